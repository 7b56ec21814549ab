"""`csd publish`: skills for others, with a page that shows what they do."""

import shlex
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from csd import hub, pretrained, rundir
from csd.evaluation.report import evaluate, table
from csd.skills import keep, load
from csd.viz.plots import plot


def publish(run: str | Path, repo: str, private: bool = False) -> str:
    """Put a run's skills on the Hugging Face Hub as USER/NAME; the address of their page."""
    path = pretrained.find(run)
    skills = load(path)
    hub.claim(repo, private)
    with TemporaryDirectory() as temporary:
        folder = Path(temporary) / Path(repo).name
        keep(skills, folder)
        if (path / rundir.METRICS).exists():
            shutil.copy(path / rundir.METRICS, folder)
        result = evaluate(folder)
        pictures = [file.relative_to(folder).as_posix() for file in plot(folder)]
        shutil.rmtree(folder / rundir.EVALUATION)  # its paths are of this machine
        (folder / "README.md").write_text(card(result, skills.config.preset, repo, pictures))
        return hub.upload(folder, repo)


def card(result: dict[str, Any], preset: str, repo: str, pictures: list[str]) -> str:
    """The page of published skills, in Markdown with what the Hub reads in front."""
    env, method, seed = result["env"], result["method"], str(result["seed"])
    name = f"{hub.PREFIX}{repo}"
    options = ["--method", method, "--preset", preset, "--seed", seed]
    command = shlex.join(["csd", "train", env, *options])
    images = "\n".join(f"![{Path(file).stem}]({file})" for file in pictures)
    return f"""---
library_name: csd
tags:
- reinforcement-learning
- unsupervised-skill-discovery
- {method}
- {env.replace(":", "-")}
---
# {repo.split("/")[1]}

Skills for {env}, learned without a reward by `{method}` in {result["episodes"]:,} episodes.

{result["verdict"]}

```
pip install 'csd[hub]'
csd explore {name}        # a web page: pick a skill, watch it
csd evaluate {name}
csd control {name} TASK   # solve a task by choosing among the skills
```

```python
import csd

skills = csd.load("{name}")
action = skills.act(obs, z)  # one observation or a batch, with a skill of skills.sample(rng)
```

## What they do

`csd evaluate`, {result["rollouts"]} rollouts beside an untrained policy and random actions:

```
{table(result)}
```

{images}

Trained with `{command}` and what else `config.json` says.
"""
