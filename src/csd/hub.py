"""Skills on the Hugging Face Hub: `hub:USER/NAME` goes wherever a run does.

Only data comes from there, never code: configuration, checksummed checkpoints, metrics.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from csd import rundir
from csd.errors import UserError, require

PREFIX = "hub:"
FILES = (rundir.CONFIG, rundir.METRICS, f"{rundir.CHECKPOINTS}/*")


def names(run: str | Path) -> bool:
    """Whether this names skills on the Hub."""
    return str(run).startswith(PREFIX)


def download(name: str) -> Path:
    """The folder of `hub:USER/NAME` or `hub:USER/NAME@REVISION`, in the Hub's own cache."""
    repo, _, revision = name.removeprefix(PREFIX).partition("@")
    require(_complete(repo), f"name skills on the Hub as hub:USER/NAME, not {name!r}")
    with _client(repo) as api:
        folder = api.snapshot_download(repo, revision=revision or None, allow_patterns=FILES)
    path = Path(folder)
    there = (path / rundir.CONFIG).exists() and (path / rundir.CHECKPOINTS).exists()
    require(there, f"{name} holds no skills: it lacks {rundir.CONFIG} or {rundir.CHECKPOINTS}")
    return path


def claim(repo: str, private: bool) -> None:
    """Make the repository unless it is there: says early who may not write to it."""
    require(
        _complete(repo) and not names(repo),
        f"name the place as USER/NAME, not {repo!r}: it becomes hub:USER/NAME",
    )
    with _client(repo) as api:
        api.create_repo(repo, private=private or None, exist_ok=True)  # else as is usual there


def upload(folder: Path, repo: str) -> str:
    """Put a folder's files there in one commit; the address of their page."""
    with _client(repo) as api:
        made = api.upload_folder(
            repo_id=repo,
            folder_path=folder,
            commit_message=f"Skills of {repo}",
            # Earlier skills would stay beside these, perhaps as those of more episodes.
            delete_patterns=f"{rundir.CHECKPOINTS}/*",
        )
    return str(made.repo_url)


def _complete(repo: str) -> bool:
    return repo.count("/") == 1 and all(repo.split("/"))


@contextmanager
def _client(repo: str) -> Iterator[Any]:
    """The Hub's client; whatever fails there is told in one line."""
    try:
        import huggingface_hub
        from huggingface_hub import errors
    except ImportError as error:
        if (error.name or "").split(".")[0] != "huggingface_hub":
            raise
        raise UserError("skills on the Hub need `pip install 'csd[hub]'`") from None
    try:
        yield huggingface_hub.HfApi()
    except (errors.LocalTokenNotFoundError, errors.RepositoryNotFoundError):
        raise UserError(
            f"hub:{repo}: there is no such place, or it is not open to you: log in with "
            "`hf auth login` or set HF_TOKEN"
        ) from None
    except Exception as error:  # of its own, of its network library, of the disk
        what = next(iter(str(error).strip().splitlines()), "").rstrip(".:")
        raise UserError(f"hub:{repo}: {what or type(error).__name__}") from None
