"""The notebooks, and the examples of the guide, run."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbclient
import nbformat
import pytest

import frazil

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(program, path, tmp_path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code), (
        "expected a notebook without outputs"
    )
    nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": tmp_path}}).execute()


def test_there_are_three_notebooks():
    assert len(NOTEBOOKS) == 3


def test_the_examples_of_the_guide_run(program, repository, tmp_path, monkeypatch):
    text = (repository / "docs" / "python.md").read_text()
    examples = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert len(examples) > 4
    monkeypatch.chdir(tmp_path)
    program(
        "run",
        "dam_break",
        "--set",
        "fluid.particle_spacing_m=0.0182",
        "--steps",
        "20",
        "--record",
        "10",
        "--render",
        "never",
        "--quiet",
        "--out",
        "out/dam_break",
    )
    names = {}
    for example in examples:
        exec(compile(example, "docs/python.md", "exec"), names)


def test_everything_public_is_documented():
    for name in frazil.__all__:
        item = getattr(frazil, name)
        if name == "__version__":
            continue
        assert item.__doc__, name
        for member, value in vars(item).items():
            is_own = callable(value) or isinstance(value, (property, classmethod))
            if isinstance(item, type) and is_own and not member.startswith("_"):
                assert value.__doc__, f"{name}.{member}"


def test_types_are_consistent(tmp_path):
    # A copy, because mypy does not check packages among the installed ones.
    shutil.copytree(Path(frazil.__file__).parent, tmp_path / "frazil")
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", "/dev/null", "frazil"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert checked.returncode == 0, checked.stdout
