"""The `csd` command: parse, call, print."""

import signal
import sys
from collections.abc import Callable

from csd import interrupt
from csd.cli.look import evaluate, explore, export, listing, plot, publish, video
from csd.cli.reproduce import reproduce
from csd.cli.run import control, train
from csd.cli.streams import prepare
from csd.errors import UserError, nearest

HELP = """usage: csd COMMAND ...

Unsupervised skill discovery: robots that teach themselves to move the world.

  csd train ENV       learn skills (ENV: see `csd list envs`, or any Gymnasium id)
  csd train --resume RUN
                      go on with a run that was stopped or killed
  csd control RUN TASK
                      learn to solve a task by choosing among a run's skills
                      (or pretrained ones: see `csd list skills`)
  csd evaluate RUN    did it learn? figures beside random and untrained behaviour
  csd plot RUN        skill trajectories, learning curves, sigma by dimension
  csd video RUN       a grid of skills at work, mp4
  csd explore RUN     a web page: pick a skill, watch it
  csd export RUN      what skills do as a Minari dataset
  csd publish RUN USER/NAME
                      put skills on the Hugging Face Hub; hub:USER/NAME takes them
  csd reproduce FIGURE
                      a figure of the paper from nothing (see `csd list figures`)
  csd list [WHAT]     envs, methods, tasks, figures, skills, presets

Start with `csd train Probe` (seconds) or `csd train FetchPush` (minutes).
Every command explains itself with --help.
"""

COMMANDS: dict[str, Callable[[list[str]], int]] = {
    "train": train,
    "control": control,
    "evaluate": evaluate,
    "plot": plot,
    "video": video,
    "explore": explore,
    "export": export,
    "publish": publish,
    "reproduce": reproduce,
    "list": listing,
}


def main() -> None:
    """Entry point of the `csd` command."""
    interrupt.listen()
    prepare()
    args = sys.argv[1:]
    if not args or args[0] in ("-h", "--help", "help"):
        print(HELP, end="")
        sys.exit(0)
    try:
        if args[0] == "--version":
            from importlib.metadata import version

            print(version("csd"))
            sys.exit(0)
        if args[0] not in COMMANDS:
            raise UserError(f"unknown command {args[0]!r}: {nearest(args[0], COMMANDS)}")
        sys.exit(COMMANDS[args[0]](args[1:]))
    except UserError as error:
        print(f"csd: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        sys.exit(1)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"csd: {where}{error.strerror or error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
    except Exception as error:
        if interrupt.asked:  # a library made something else of Ctrl-C
            sys.exit(128 + signal.SIGINT)
        if not isinstance(error, MemoryError) and "RESOURCE_EXHAUSTED" not in str(error):
            raise
        what = next(iter(str(error).splitlines()), "")
        print(f"csd: not enough memory: {what}", file=sys.stderr)
        sys.exit(2)
