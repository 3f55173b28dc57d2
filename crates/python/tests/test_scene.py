"""Scenes: the same values and the same words as the command line's."""

import numpy as np
import pytest

import frazil


def test_built_in_scenes_are_listed_and_load():
    scenes = frazil.scenes()
    assert "dam_break" in scenes and all(scenes.values())
    scene = frazil.Scene("dam_break")
    assert scene.name == "dam_break" and scene.n_dimensions == 3
    assert scene.n_steps == 3000 and scene.dt_s == 0.001
    assert scene.derived["particle_mass_kg"] > 0
    assert scene.advice == []


def test_overrides_take_python_and_numpy_values():
    scene = frazil.Scene(
        "dam_break",
        {
            "fluid.particle_spacing_m": np.float64(0.0146),
            "pbd.iterations": np.int32(5),
            "gravity_m_s2": np.array([0.0, -1.0, 0.0]),
            "particles.0.shape.box.max_m": (0.146, 0.146, 0.073),
            "render.show_scale": True,
            "name": 'än "other" name\n\x7f',
        },
    )
    assert scene["fluid.particle_spacing_m"] == 0.0146
    assert scene["pbd.iterations"] == 5
    assert scene["gravity_m_s2"] == [0.0, -1.0, 0.0]
    assert scene["particles.0.shape.box.max_m"] == [0.146, 0.146, 0.073]
    assert scene["render.show_scale"] is True
    assert scene.name == 'än "other" name\n\x7f'


@pytest.mark.parametrize("name", list(frazil.scenes()))
def test_scenes_survive_text_and_dict(name):
    scene = frazil.Scene(name)
    assert frazil.Scene.from_toml(scene.to_toml()) == scene
    assert frazil.Scene.from_dict(scene.to_dict()) == scene


def test_files_are_read(repository, tmp_path):
    path = repository / "scenes" / "dam_break.toml"
    assert frazil.Scene(path) == frazil.Scene("dam_break")
    copy = tmp_path / "mine.toml"
    copy.write_text(path.read_text().replace("duration_s = 3.0", "duration_s = 1.0"))
    assert frazil.Scene(str(copy)).n_steps == 1000


@pytest.mark.parametrize(
    "arguments",
    [
        ["no_such_scene"],
        ["dam_brake"],
        ["missing.toml"],
        ["dam_break", "fluid.particle_spacing_m", -1.0],
        ["dam_break", "fluid.particle_spacing", 0.1],
        ["dam_break", "pbd.iterations", 1.5],
        ["dam_break", "solver.kind", "magic"],
        ["dam_break", "render.colour_by", "charm"],
    ],
)
def test_errors_have_the_words_of_the_command_line(program, arguments):
    name, *override = arguments
    key, value = override or (None, None)
    overrides = {key: value} if key else {}
    text = f'"{value}"' if isinstance(value, str) else value
    printed = program("check", name, *([f"--set={key}={text}"] if key else []), status=2)
    with pytest.raises(frazil.SceneError) as raised:
        frazil.Scene(name, overrides)
    assert printed.strip() == f"frazil: error: {raised.value}"
    assert raised.value.exit_status == 2 and isinstance(raised.value, ValueError)


def test_errors_in_a_text_name_line_and_key():
    text = (
        frazil.Scene("dam_break")
        .to_toml()
        .replace("rest_density_kg_m3 = 1000.0", "rest_density_kg_m3 = -1.0")
    )
    with pytest.raises(frazil.SceneError, match=r"water\.toml:\d+.*fluid\.rest_density_kg_m3.*expected"):
        frazil.Scene.from_toml(text, origin="water.toml")
    with pytest.raises(frazil.SceneError, match="version"):
        frazil.Scene.from_dict({"name": "empty"})


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: frazil.Scene(3), "scene: found a int, expected a name or a path"),
        (lambda: frazil.Scene(b"dam_break"), "scene: found a bytes"),
        (
            lambda: frazil.Scene("dam_break", ["pbd.iterations=4"]),
            "overrides: found a list, expected a dict",
        ),
        (lambda: frazil.Scene("dam_break", {3: 4}), "found the key 3, expected a str"),
        (
            lambda: frazil.Scene("dam_break", {"pbd.iterations": None}),
            "pbd.iterations: found a NoneType",
        ),
        (lambda: frazil.Scene("dam_break", {"time": {"dt_s": object()}}), "time.dt_s: found a object"),
        (lambda: frazil.Scene("dam_break", {"gravity_m_s2": [0, 1j, 0]}), "gravity_m_s2.1: found a complex"),
        (lambda: frazil.Scene.from_toml(b""), "text: found a bytes, expected a str"),
        (lambda: frazil.Scene.from_dict("version = 1"), "scene: found a str, expected a dict"),
        (lambda: frazil.Scene("dam_break")[3], "key: found a int, expected a str"),
    ],
)
def test_wrong_types_are_type_errors(call, said):
    with pytest.raises(TypeError) as raised:
        call()
    assert said in str(raised.value)


def test_unknown_keys_name_those_there_are():
    with pytest.raises(frazil.NameNotFoundError, match="expected .*rest_density_kg_m3") as raised:
        frazil.Scene("dam_break")["fluid.mass"]
    assert isinstance(raised.value, KeyError) and str(raised.value).startswith("fluid.mass: found")


def test_live_parameters_are_described():
    parameters = frazil.Scene("dam_break").live_parameters
    viscosity = parameters["fluid.dynamic_viscosity_pa_s"]
    assert viscosity.unit == "Pa s" and viscosity.value >= 0 and viscosity.description
    assert len(parameters["gravity_m_s2"].value) == 3


def test_particles_come_from_arrays_without_a_file(device):
    scene = frazil.Scene("dam_break", {"fluid.particle_spacing_m": 0.02}).to_dict()
    scene["particles"] = [{"shape": {"points": {"path": "start"}}}]
    steps = 0.02 * np.arange(1, 6)
    position = np.stack(np.meshgrid(steps, steps, steps[:3], indexing="ij"), axis=-1).reshape(-1, 3)
    velocity = np.tile([0.5, 0.0, 0.0], (len(position), 1))
    points = {"start": {"position": position, "velocity": velocity.astype(np.float32)}}
    sim = frazil.Simulation(frazil.Scene.from_dict(scene, points=points), device=device)
    order = np.argsort(sim["water"]["id"])
    np.testing.assert_array_equal(sim["water"]["position"][order], position.astype(np.float32))
    np.testing.assert_array_equal(sim["water"]["velocity"][order], velocity.astype(np.float32))
    sim.step(2)
    # Live changes read the scene anew, and the particles stay.
    sim.set_parameter("fluid.wall_friction", 0.3)
    sim.step(2)
    assert sim.n_particles == len(position)
    for wrong, error, said in [
        ({"position": position[:, :2]}, frazil.InputError, r"found an array of shape \(75, 2\)"),
        ({"position": position, "velocity": velocity[1:]}, frazil.InputError, "found 74 rows, expected 75"),
        ({"position": np.zeros((2, 3))}, frazil.InputError, "rows 0 and 1 are at the same position"),
        ({"position": position, "speed": velocity}, frazil.NameNotFoundError, 'found "speed"'),
        ({"velocity": velocity}, TypeError, 'with the array "position"'),
    ]:
        with pytest.raises(error, match=said):
            frazil.Scene.from_dict(scene, points={"start": wrong})
