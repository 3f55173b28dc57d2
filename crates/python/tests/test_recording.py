"""Recordings as sequences of frames."""

import numpy as np
import pytest
from conftest import SMALL, set_arguments

import frazil


@pytest.fixture(scope="module")
def recorded(program, tmp_path_factory):
    out = tmp_path_factory.mktemp("recorded") / "run"
    overrides, steps = SMALL["snow_drop_linked"]
    program(
        "run",
        "snow_drop_linked",
        *set_arguments(overrides),
        "--steps",
        steps,
        "--record",
        "4",
        "--render",
        "never",
        "--quiet",
        "--out",
        out,
    )
    return out / "recording.frazil-rec"


def test_frames_are_those_of_the_simulation(recorded, device):
    overrides, steps = SMALL["snow_drop_linked"]
    recording = frazil.Recording(recorded)
    assert list(recording.steps) == list(range(0, steps + 1, 4)) and len(recording) == len(recording.steps)
    assert recording.is_finished and recording.damage == [] and recording.device == device.name
    assert recording.scene == frazil.Scene("snow_drop_linked", overrides)
    sim = frazil.Simulation(recording.scene, device=device)
    for step, time_s, frame in zip(recording.steps, recording.times_s, recording):
        sim.step(int(step) - sim.step_count)
        now = sim.frame()
        assert (frame.step, frame.time_s) == (step, time_s) == (sim.step_count, sim.time_s)
        assert list(frame) == list(now) and frame.units == now.units and frame.sets == sim.sets
        for column, values in frame.items():
            np.testing.assert_array_equal(values, now[column])


def test_it_is_a_sequence(recorded):
    recording = frazil.Recording(recorded)
    n = len(recording)
    assert recording[-1].step == recording[n - 1].step == recording.steps[-1]
    assert [frame.step for frame in recording[::2]] == list(recording.steps[::2])
    first = recording[0].sorted_by_id()
    assert list(first["id"]) == list(range(first.n_particles))
    assert sum(first.of(name).n_particles for name in first.sets) == first.n_particles
    for index in [n, -n - 1]:
        with pytest.raises(IndexError, match=f"found {index}, expected an index below {n}"):
            recording[index]
    with pytest.raises(TypeError):
        recording["0"]


def test_files_that_are_no_recordings_are_refused(recorded, tmp_path):
    with pytest.raises(frazil.InputError, match="missing"):
        frazil.Recording(tmp_path / "missing")
    other = tmp_path / "other"
    other.write_text("This is no recording, whatever its name is." * 10)
    with pytest.raises(frazil.InputError, match="is not a frazil recording"):
        frazil.Recording(other)
    with pytest.raises(TypeError):
        frazil.Recording(3)


def test_a_truncated_recording_has_its_whole_frames(recorded, tmp_path):
    cut = tmp_path / "cut.frazil-rec"
    cut.write_bytes(recorded.read_bytes()[:-2000])
    recording = frazil.Recording(cut)
    assert 0 < len(recording) < len(frazil.Recording(recorded)) and not recording.is_finished
    assert len(recording.damage) == 1
    assert recording[-1].n_particles > 0
    # The rest arrives.
    cut.write_bytes(recorded.read_bytes())
    assert recording.refresh() == len(frazil.Recording(recorded))
