"""Simulations: the bits of the command line, arrays, changes, and bad input."""

import csv
import os
import signal
import threading
import time

import numpy as np
import pytest
from conftest import SMALL

import frazil


def test_the_final_hash_is_that_of_the_command_line(program, device, small, tmp_path):
    name, overrides, steps = small
    report = program.run(name, overrides, steps, tmp_path / "run")
    sim = frazil.Simulation(frazil.Scene(name, overrides), device=device)
    sim.step(steps)
    assert sim.step_count == steps == report["steps"]
    assert sim.time_s == report["simulated_time_s"] and sim.n_particles == report["n_particles"]
    assert sim.hash() == report["final_state_hash"]


def test_reading_in_between_changes_no_bit(device, small):
    name, overrides, steps = small
    scene = frazil.Scene(name, overrides)
    whole, parts = (frazil.Simulation(scene, device=device) for _ in range(2))
    whole.step(steps)
    while parts.step_count < steps:
        parts.step(min(7, steps - parts.step_count))
        parts.metrics(), parts.frame(), parts.render(width_px=64, height_px=36)
        for name in parts.sets:
            parts[name].read()
    assert parts.hash() == whole.hash()


def test_particles_enter_and_leave(program, device, tmp_path):
    overrides = {"fluid.particle_spacing_m": 0.015, "time.dt_s": 0.002, "time.duration_s": 0.04, "particles": []}
    report = program.run("fountain", overrides, 60, tmp_path / "run")
    sim = frazil.Simulation(frazil.Scene("fountain", overrides), device=device)
    assert sim.n_particles == 0
    sim.step(30)
    water = sim["water"]
    n = sim.n_particles
    assert 0 < n == water.n_particles == len(water["position"]) == len(sim.frame()["id"])
    water.set("velocity", water["velocity"])
    sim.save(tmp_path / "state.frazil-ckpt")
    again = frazil.Simulation.load(tmp_path / "state.frazil-ckpt", device=device)
    for each in (sim, again):
        each.step(30)
        assert n < each.n_particles == report["n_particles"]
        assert each.hash() == report["final_state_hash"]


def test_an_overflow_is_repeated_as_in_a_run(program, device, tmp_path):
    overrides = {"dem.radius_m": 0.02, "dem.contacts_per_grain": 1.0}
    report = program.run("column_collapse", overrides, 120, tmp_path / "run")
    sim = frazil.Simulation(frazil.Scene("column_collapse", overrides), device=device)
    sim.step(120)
    assert sim.step_count == 120 and sim.hash() == report["final_state_hash"]


def test_metrics_are_those_of_the_table(program, device, tmp_path):
    overrides, steps = SMALL["dam_break"]
    program.run("dam_break", overrides, steps, tmp_path / "run")
    with open(tmp_path / "run" / "metrics.csv") as file:
        header, *rows = csv.reader(file)
    sim = frazil.Simulation(frazil.Scene("dam_break", overrides), device=device)
    sim.step(steps)
    metrics, units = sim.metrics(), sim.metric_units
    assert header == [f"{name} [{units[name]}]" if units[name] else name for name in metrics]
    assert [float(value) for value in rows[-1]] == list(metrics.values())


def test_columns_are_arrays_with_units(device, small):
    name, overrides, steps = small
    sim = frazil.Simulation(frazil.Scene(name, overrides), device=device)
    sim.step(steps)
    assert sum(sim[set].n_particles for set in sim.sets) == sim.n_particles
    for set in sim.sets:
        particles = sim[set]
        arrays = particles.read()
        assert list(arrays) == list(particles) == list(particles.units)
        for column, values in arrays.items():
            assert values.dtype in (np.float32, np.uint32) and values.flags.writeable, column
            assert len(values) == particles.n_particles and values.ndim <= 2, column
            np.testing.assert_array_equal(values, particles[column])
        assert arrays["position"].shape == (particles.n_particles, 3)
        assert arrays["id"].dtype == np.uint32 and len(np.unique(arrays["id"])) == particles.n_particles
        assert (particles.units["position"], particles.units["velocity"]) == ("m", "m/s")


def test_sets_have_the_particles_of_the_frame(device):
    overrides, steps = SMALL["snow_drop_linked"]
    sim = frazil.Simulation(frazil.Scene("snow_drop_linked", overrides), device=device)
    sim.step(steps)
    frame = sim.frame()
    assert sim.sets == frame.sets == ("snow", "water")
    assert frame.step == steps and frame.time_s == sim.time_s and frame.n_particles == sim.n_particles
    for name in sim.sets:
        of_set, of_frame = sim[name].read("id", "position"), frame.of(name).sorted_by_id()
        order = np.argsort(of_set["id"])
        np.testing.assert_array_equal(of_set["id"][order], of_frame["id"])
        np.testing.assert_array_equal(of_set["position"][order], of_frame["position"])


def test_arrays_are_shared_by_dlpack_without_a_copy(water):
    positions = water["water"]["position"]
    shared = np.from_dlpack(positions)
    assert np.shares_memory(positions, shared)
    before = positions.copy()
    water.step(5)
    np.testing.assert_array_equal(positions, before)


def test_views_are_the_memory_of_the_device(device, small):
    name, overrides, steps = small
    sim = frazil.Simulation(frazil.Scene(name, overrides), device=device)
    sim.step(steps)
    for set in sim.sets:
        particles = sim[set]
        for column, values in particles.read().items():
            view = particles.view(column)
            np.testing.assert_array_equal(view, values)
            assert (view.shape, view.dtype) == (values.shape, values.dtype)
            assert not view.flags.writeable and not view.flags.owndata, column
            exported = np.from_dlpack(view)
            np.testing.assert_array_equal(exported, values)
            assert len(view) == 0 or (
                np.shares_memory(view, particles.view(column)) and np.shares_memory(view, exported)
            ), column
    sim.render()  # Raises an exception if there was a validation message.


def test_a_view_keeps_its_memory_and_reading_it_changes_no_bit(device, small):
    name, overrides, steps = small
    sims = [frazil.Simulation(frazil.Scene(name, overrides), device=device) for _ in range(2)]
    sums = []
    for step in range(2 * steps):
        for sim in sims:
            sim.step()
        sums.append(float(sims[0][sims[0].sets[0]].view("position").sum()))
    assert sims[0].hash() == sims[1].hash()
    view = sims[0][sims[0].sets[0]].view("position")
    assert np.isfinite(sums).all()
    before = view.copy()
    del sim, sims
    np.testing.assert_array_equal(view, before)


def test_unknown_columns_have_no_view(water):
    with pytest.raises(frazil.NameNotFoundError, match="did you mean position"):
        water["water"].view("positions")
    with pytest.raises(TypeError, match="found a int"):
        water["water"].view(1)


def test_a_changed_parameter_has_the_bits_of_a_scripted_change(program, device, tmp_path):
    overrides, steps = SMALL["dam_break"]
    key = "fluid.dynamic_viscosity_pa_s"
    at = [f"--at=10:{key}=5.0", "--at=10:gravity_m_s2=[1.0, -9.0, 0.0]"]
    report = program.run("dam_break", overrides, steps, tmp_path / "run", *at)
    sim = frazil.Simulation(frazil.Scene("dam_break", overrides), device=device)
    sim.step(10)
    sim.set_parameters({key: 5.0, "gravity_m_s2": np.array([1.0, -9.0, 0.0])})
    assert sim.live_parameters[key].value == sim.scene[key] == 5.0
    sim.step(steps - 10)
    assert sim.hash() == report["final_state_hash"]
    assert sorted(sim.changes, key=lambda change: change["key"]) == sorted(
        report["changes"], key=lambda change: change["key"]
    )


def test_refused_changes_change_nothing(water):
    water.step(3)
    before = water.hash()
    for key, value, said in [
        ("fluid.particle_spacing_m", 0.1, "cannot change while the simulation runs"),
        ("fluid.dynamic_viscosity_pa_s", -1.0, "fluid.dynamic_viscosity_pa_s"),
        ("no.such.key", 1, "no.such.key"),
    ]:
        with pytest.raises(frazil.SceneError, match=said):
            water.set_parameter(key, value)
    with pytest.raises(TypeError, match="dynamic_viscosity_pa_s: found a object"):
        water.set_parameter("fluid.dynamic_viscosity_pa_s", object())
    assert water.changes == [] and water.hash() == before


def test_checkpoints_go_on_with_the_same_bits(device, small, tmp_path):
    name, overrides, steps = small
    path = tmp_path / "state.frazil-ckpt"
    sim = frazil.Simulation(frazil.Scene(name, overrides), device=device)
    sim.step(steps)
    sim.save(path)
    loaded = frazil.Simulation.load(path, device=device)
    assert loaded.step_count == steps and loaded.hash() == sim.hash()
    for both in (sim, loaded):
        both.step(5)
    assert loaded.hash() == sim.hash()


def test_checkpoints_of_the_command_line_are_read(program, device, tmp_path):
    overrides, steps = SMALL["dam_break"]
    report = program.run("dam_break", overrides, steps, tmp_path / "run", "--checkpoint", "20")
    loaded = frazil.Simulation.load(tmp_path / "run" / "checkpoint.frazil-ckpt", device=device)
    assert loaded.step_count == steps and loaded.hash() == report["final_state_hash"]
    (tmp_path / "other").write_bytes(b"no checkpoint of anything at all")
    for path in ["missing", "other"]:
        with pytest.raises(frazil.InputError, match=path):
            frazil.Simulation.load(tmp_path / path, device=device)
    with pytest.raises(frazil.Error, match="no_such_folder"):
        loaded.save(tmp_path / "no_such_folder" / "state")


def test_velocities_can_be_written(device, small):
    name, overrides, _ = small
    scene = frazil.Scene(name, overrides)
    sim, same = (frazil.Simulation(scene, device=device) for _ in range(2))
    for both in (sim, same):
        both.step(5)
    # The present ones change nothing.
    for set in sim.sets:
        if sim[set].n_particles:
            sim[set]["velocity"] = sim[set]["velocity"]
    sim.step(3)
    same.step(3)
    assert sim.hash() == same.hash()
    (first, *_) = (set for set in sim.sets if sim[set].n_particles)
    ids, step = sim[first]["id"], sim.step_count
    velocity = np.stack([ids, 2.0 * ids, 0.0 * ids], axis=1) / (4.0 * sim.n_particles)
    sim[first].set("velocity", velocity)
    np.testing.assert_array_equal(sim[first]["id"], ids)
    np.testing.assert_array_equal(sim[first]["velocity"], velocity.astype(np.float32))
    assert sim.step_count == step and sim.hash() != same.hash()
    sim.step(2)


def test_several_columns_are_written_at_once_also_from_other_libraries(water):
    class Foreign:
        """An array that is known by DLPack alone."""

        def __init__(self, array):
            self._array = array

        def __dlpack__(self, **arguments):
            return self._array.__dlpack__(**arguments)

        def __dlpack_device__(self):
            return self._array.__dlpack_device__()

    water.step(2)
    particles = water["water"]
    before = particles.read("id", "position", "velocity")
    # The particles exchange their places.
    position, velocity = before["position"][::-1].copy(), 0.5 * before["velocity"]
    particles.write({"position": Foreign(position), "velocity": velocity})
    found = particles.read("id", "position", "velocity")
    np.testing.assert_array_equal(found["id"], before["id"])
    np.testing.assert_array_equal(found["position"], position)
    np.testing.assert_array_equal(found["velocity"], velocity)
    water.step(2)
    water.metrics()


def test_wrong_arrays_are_refused_with_found_and_expected(water):
    water.step(2)
    particles, before = water["water"], water.hash()
    n = particles.n_particles
    good = np.zeros((n, 3), np.float32)
    for wrong, said in [
        (good[:-1], rf"found an array of shape \({n - 1}, 3\), expected \({n}, 3\)"),
        (good[:, :2], rf"found an array of shape \({n}, 2\)"),
        (good.ravel(), rf"found an array of shape \({3 * n},\)"),
        (0.0, r"found an array of shape \(\)"),
        (np.where(np.arange(n)[:, None] == 5, np.nan, good), "row 5, expected finite numbers"),
        (np.full((n, 3), 1e300), "row 0, expected finite numbers"),
    ]:
        with pytest.raises(frazil.InputError, match=said):
            particles["velocity"] = wrong
    for wrong in [good.astype(str), good.astype(complex), np.full((n, 3), None), good > 0]:
        with pytest.raises(TypeError, match="expected real numbers"):
            particles["velocity"] = wrong
    with pytest.raises(frazil.InputError, match="outside"):
        particles["position"] = good - 9.0
    with pytest.raises(frazil.InputError, match="identifies the particles"):
        particles["id"] = np.arange(n)[::-1]
    with pytest.raises(frazil.InputError, match="numbers that uint32 has not"):
        particles["id"] = np.full(n, -1)
    with pytest.raises(frazil.InputError, match='"density" of water: cannot be written: it follows'):
        particles["density"] = np.ones(n)
    with pytest.raises(frazil.NameNotFoundError, match='found "speed", expected one of position'):
        particles["speed"] = good
    assert water.hash() == before


def test_unknown_names_list_those_there_are(water):
    with pytest.raises(KeyError, match='set of particles: found "snow", expected water'):
        water["snow"]
    with pytest.raises(
        frazil.NameNotFoundError, match='column of water: found "positions".*did you mean position'
    ):
        water["water"]["positions"]
    with pytest.raises(TypeError, match="column: found a int, expected a str"):
        water["water"][0]
    frame = water.frame()
    with pytest.raises(frazil.NameNotFoundError, match='column: found "speed", expected one of position'):
        frame["speed"]
    with pytest.raises(frazil.NameNotFoundError, match='found "ice", expected water'):
        frame.of("ice")
    assert "speed" not in frame and "position" in frame and "snow" not in water


@pytest.mark.parametrize(
    ("wrong", "error"), [(-1, frazil.InputError), (1.5, TypeError), ("3", TypeError), (None, TypeError)]
)
def test_wrong_numbers_of_steps_are_refused(water, wrong, error):
    with pytest.raises(error):
        water.step(wrong)
    assert water.step_count == 0


def test_steps_to_a_time(water):
    water.step_to(0.0104)
    assert water.step_count == 10
    with pytest.raises(frazil.InputError, match="time: found 0.005 s, expected 0.01 s or more"):
        water.step_to(0.005)


def test_a_fault_is_an_exception(water):
    n = water["water"].n_particles
    water["water"]["velocity"] = np.full((n, 3), 1e30, np.float32)
    with pytest.raises(frazil.FaultError) as raised:
        water.step(5)
        water.metrics()
    assert raised.value.exit_status == 4 and "step" in str(raised.value)


def test_particles_from_an_array_that_gain_energy_end_as_in_a_run(program, device, tmp_path):
    spacing_m = 0.0182
    # Closer than their spacing: corrections of positions drive them apart, a projection without energy.
    axes = [0.02 + 0.85 * spacing_m * np.arange(n) for n in (8, 8, 4)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    path = tmp_path / "points.csv"
    np.savetxt(path, points, delimiter=",", header="x,y,z", comments="")
    overrides = {"fluid.particle_spacing_m": spacing_m, "pbd.pressure": "position"}
    tank = frazil.Scene("dam_break", overrides).to_dict()
    tank["particles"] = [{"shape": {"points": {"path": str(path)}}}]
    scene = frazil.Scene.from_dict(tank)
    sim = frazil.Simulation(scene, device=device)
    assert sim.n_particles == len(points)
    np.testing.assert_allclose(sim.frame().sorted_by_id()["position"], points, atol=1e-6)
    with pytest.raises(frazil.FaultError, match="max_energy_ratio") as raised:
        while sim.step_count < 100:
            sim.step(10)
            sim.metrics()
    file = tmp_path / "scene.toml"
    file.write_text(scene.to_toml())
    arguments = [
        "--steps",
        100,
        "--render",
        "never",
        "--record",
        "never",
        "--quiet",
        "--out",
        tmp_path / "run",
    ]
    assert program("run", file, *arguments, status=4).strip() == f"frazil: error: {raised.value}"


def test_devices(device):
    listed = frazil.devices()
    assert any(info.index == device.index and info.name == device.name for info in listed)
    assert device.name in repr(device)
    with pytest.raises(frazil.DeviceError, match="no such device at all") as raised:
        frazil.Device("no such device at all")
    assert raised.value.exit_status == 3
    for wrong in [1.5, True, b"0"]:
        with pytest.raises(TypeError, match="device: found a"):
            frazil.Device(wrong)
    assert frazil.Simulation("drop", device=device.index).device.name == device.name


def test_other_threads_run_while_it_steps(water):
    counted = 0
    stop = threading.Event()

    def count():
        nonlocal counted
        while not stop.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    before = counted
    water.step(50)
    during = counted - before
    stop.set()
    thread.join()
    assert during > 5


def test_simulations_in_threads_have_the_bits_of_simulations_alone(device):
    cases = [("dam_break", 25), ("snowball_collision", 40)]
    scenes = [(frazil.Scene(name, SMALL[name][0]), steps) for name, steps in cases]

    def run(scene, steps):
        sim = frazil.Simulation(scene, device=device)
        for _ in range(5):
            sim.step(steps // 5)
            sim.metrics()
        return sim.hash()

    alone = [run(*case) for case in scenes]
    together = [None] * len(scenes)

    def work(i):
        together[i] = run(*scenes[i])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(scenes))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == alone


def test_one_simulation_takes_calls_of_several_threads_in_turn(water):
    def steps():
        for _ in range(10):
            water.step(2)

    threads = [threading.Thread(target=steps) for _ in range(3)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        assert water.step_count % 2 == 0 and water.metrics()["n_particles"] == water.n_particles
    assert water.step_count == 60


def test_an_interrupt_ends_the_steps(water):
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        water.step(10_000_000)
    assert time.monotonic() - begin < 30
    taken = water.step_count
    assert 0 < taken < 10_000_000
    water.step(1)
    assert water.step_count == taken + 1 and water.metrics()["n_particles"] == water.n_particles
