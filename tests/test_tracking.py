"""Weights & Biases beside a run: its own package, without a network."""

import json
import struct
import sys

import pytest

import csd
from csd import checkpoint, rundir

from .conftest import TINY, flags
from .test_control import SMALL_SAC

wandb = pytest.importorskip("wandb")


@pytest.fixture
def offline(monkeypatch):
    monkeypatch.setenv("WANDB_MODE", "offline")
    wandb.teardown()  # it remembers the environment of its first use


@pytest.fixture
def stranger(monkeypatch, tmp_path):
    """Somebody who never logged in."""
    for name in ("WANDB_API_KEY", "WANDB_MODE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    wandb.teardown()


def records(data):
    """The messages of a .wandb file: blocks of 32 KiB, in them pieces with headers of 7 bytes."""
    place, whole = 7, b""
    while place + 7 <= len(data):
        rest = 32768 - place % 32768
        if rest < 7:
            place += rest
            continue
        _, length, kind = struct.unpack_from("<IHB", data, place)
        whole += data[place + 7 : place + 7 + length]
        place += 7 + length
        if kind in (1, 4):  # all of a message, or its last piece
            yield whole
            whole = b""


def sent(run):
    """What W&B's files hold: of each process that trained its name, configuration and rows."""
    from wandb.proto.wandb_internal_pb2 import Record

    wandb.teardown()  # its service writes what is left
    processes = []
    for file in sorted((run / "wandb").glob("offline-run-*/*.wandb")):
        config, rows = {}, []
        for message in records(file.read_bytes()):
            record = Record.FromString(message)
            for item in record.run.config.update:
                config[item.key] = json.loads(item.value_json)
            if record.HasField("history"):
                items = record.history.item
                rows.append({i.key or i.nested_key[0]: json.loads(i.value_json) for i in items})
        processes.append((file.name, config, rows))
    return processes


def test_every_figure_goes_there_also_after_a_resume(tmp_path, offline):
    run = csd.train("Probe", run_dir=tmp_path / "run", quiet=True, wandb="probe", **TINY)
    rows = rundir.read_metrics(run.dir)
    newest = run.dir / "checkpoints" / f"{checkpoint.episodes(run.dir / 'checkpoints')[-1]:09d}"
    newest.with_suffix(".json").unlink()
    newest.with_suffix(".safetensors").unlink()
    assert csd.resume(run.dir, quiet=True).finished

    (name, config, first), (again, _, second) = sent(run.dir)
    assert name == again and json.loads((run.dir / "wandb.json").read_text())["id"] in name
    assert config["env"] == "Probe" and config["sac"]["discount"] == run.config.sac.discount
    assert [row["_step"] for row in first] == [row["episodes"] for row in rows]
    assert [row["_step"] for row in second] == [r["episodes"] for r in rows if r["episodes"] > 32]
    for row, there in zip(rows, first, strict=True):
        for key, value in row.items():
            for inner, scalar in (value if isinstance(value, dict) else {"": value}).items():
                if isinstance(scalar, int | float):
                    assert there[f"{key}/{inner}" if inner else key] == scalar


def test_a_controller_is_followed_too(tiny_run, tmp_path, offline):
    options = {"run_dir": tmp_path / "run", "quiet": True, "wandb": "probe", **SMALL_SAC}
    run = csd.control(tiny_run.dir, "ProbeGoal", **options)
    ((_, config, rows),) = sent(run.dir)
    assert config["task"] == "ProbeGoal" and "evaluation/success" in rows[-1]


def test_without_a_key_nothing_is_begun(command, stranger, tmp_path):
    code, _, err = command("train", "Probe", "--wandb", "probe", *flags(TINY))
    assert code == 2 and "wandb login" in err and err.count("\n") == 1
    assert not (tmp_path / "runs").exists()


def test_without_the_package_it_says_what_to_install(command, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "wandb", None)
    code, _, err = command("train", "Probe", "--wandb", "probe", *flags(TINY))
    assert code == 2 and "csd[wandb]" in err and err.count("\n") == 1
    assert not (tmp_path / "runs").exists()


def test_an_unusable_identity_is_the_users_to_mend(tmp_path, offline):
    run = csd.train("Probe", run_dir=tmp_path / "run", quiet=True, **TINY)
    assert not (run.dir / "wandb").exists()
    (run.dir / "wandb.json").write_text("[]")
    folder = run.dir / "checkpoints"
    for file in folder.glob(f"{checkpoint.episodes(folder)[-1]:09d}.*"):
        file.unlink()
    before = (run.dir / "metrics.jsonl").read_bytes()
    with pytest.raises(csd.UserError, match=r"wandb\.json cannot be used"):
        csd.resume(run.dir, quiet=True)
    assert (run.dir / "metrics.jsonl").read_bytes() == before
