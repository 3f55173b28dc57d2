"""Pictures as arrays."""

import matplotlib.image
import numpy as np
import pytest
from conftest import SMALL

import frazil


def test_pictures_are_those_of_the_command_line(program, device, tmp_path):
    overrides = {**SMALL["dam_break"][0], "render.width_px": 160, "render.height_px": 90}
    program.run("dam_break", overrides, 20, tmp_path / "run", "--render", "20")
    written = max((tmp_path / "run" / "frames").iterdir())
    sim = frazil.Simulation(frazil.Scene("dam_break", overrides), device=device)
    sim.step(20)
    picture = sim.render()
    assert picture.shape == (90, 160, 3) and picture.dtype == np.uint8
    np.testing.assert_array_equal(
        picture, np.rint(255 * matplotlib.image.imread(written)[:, :, :3]).astype(np.uint8)
    )


def test_settings_are_keys_of_the_scene(water):
    size = {"width_px": 96, "height_px": 54}
    plain = water.render(**size)
    assert plain.shape == (54, 96, 3) and plain.std() > 1
    np.testing.assert_array_equal(water.render(**size), plain)
    water.step(10)
    for settings in [
        {"colour_by": "height", "colour_range": [0.0, 0.1]},
        {"camera": {"azimuth_deg": 80.0, "elevation_deg": 40.0}},
        {"background_srgb": np.array([1.0, 0.0, 0.0])},
        {"scheme": "surface"},
    ]:
        assert (water.render(**size, **settings) != plain).any(), settings
    assert water.scene["render.colour_by"] == "speed", "the simulation's own settings stay"


def test_wrong_settings_are_refused(water):
    water.render(width_px=64, height_px=36)
    for settings, said in [
        ({"width": 64}, "render.width"),
        ({"width_px": 0}, "render.width_px"),
        ({"colour_by": "charm"}, 'render.colour_by: found "charm", expected one of'),
        ({"camera": {"azimuth": 3.0}}, "render.camera.azimuth"),
        ({"scheme": "photograph"}, "render.scheme"),
    ]:
        with pytest.raises(frazil.SceneError, match=said):
            water.render(**settings)
    with pytest.raises(TypeError, match="colour_by: found a NoneType"):
        water.render(colour_by=None)
    assert water.render(width_px=64, height_px=36).shape == (36, 64, 3)
