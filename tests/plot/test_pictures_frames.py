"""Pictures of frames: what they show is where it should be, and as large as they say."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dolfinx_impact import Plane, RigidContact
from dolfinx_impact.benchmark.cases.bridge_crane import model as crane
from dolfinx_impact.plot import drawing, frames

pytest.importorskip("gmsh")
pytest.importorskip("pyvista")
Image = pytest.importorskip("PIL.Image")
TUBES = {
    "girders": frames.Tubes(crane.BEAMS["girders"], 0.14, "#0000ff"),
    "end-carriages": frames.Tubes(crane.BEAMS["end-carriages"], 0.14, "#777777"),
    "trolley": frames.Tubes(crane.BEAMS["trolley"], 0.10, "#00ff00", lift=0.5),
}


@pytest.fixture(scope="module")
def frame():
    return crane.crane_frame(crane.crane_mesh())


class Coarse(frames.Scene):
    """With half as many pixels a metre."""

    def _fit_view(self):
        super()._fit_view()
        self.size = (self.size[0] // 2, 2 * (self.size[1] // 4))
        self._scale /= 2


@pytest.fixture(scope="module")
def scene(frame):
    return Coarse(frame, TUBES, crane.wheels(frame, gap0=0.0), magnify=50.0, supports="crane wheels")


def where(image, channel):
    """Rows and columns of the pixels in which a colour rules."""
    others = np.delete(image.astype(int), channel, axis=2).max(axis=2)
    return np.argwhere(image[..., channel].astype(int) > others + 60)


#: Wheels that are open in two pictures, which tell all four of them apart.
OPEN = {"some": [0, 1], "others": [0, 2]}


@pytest.fixture(scope="module")
def pictures(frame, scene):
    """By name: at rest, with gaps below the least one; moved up by 5 mm; with some wheels open."""
    u, gap = states(frame, [0.0, 5e-3, 0.0, 0.0])
    gap[0] = 0.9 * scene.least
    for row, wheels in zip(gap[2:], OPEN.values()):
        row[wheels] = 1e-4
    return dict(zip(["rest", "up", *OPEN], scene.images(u, gap), strict=True))


def states(frame, heights):
    """All nodes displaced upwards [m], all gaps zero."""
    u = np.zeros((len(heights), frame.owned // 6, 3))
    u[..., 2] = np.asarray(heights)[:, None]
    return u, np.zeros((len(heights), 4))


def test_magnified_displacements_are_as_large_as_the_scale_says(scene, pictures):
    """Both colours move by the magnified displacement, nothing sideways; no wheel is marked open."""
    images = [pictures["rest"], pictures["up"]]
    up = scene.pixels(np.array([[0, 0, 0], [0, 0, 50.0 * 5e-3]]))
    (aside, expected) = up[1] - up[0]
    assert abs(aside) < 1e-9 and expected < -5
    for channel in (1, 2):
        before, after = (where(image, channel).mean(axis=0) for image in images)
        assert after - before == pytest.approx([expected, 0.0], abs=0.3)
    assert not any(where(image, 0).size for image in images)


def test_beams_are_where_pixels_say(frame, scene, pictures):
    """The girders' pixels span those of their nodes, and not more than their thickness besides."""
    image = pictures["rest"]
    nodes = np.unique(crane.dofs_of(frame, "girders") // 6)
    columns = scene.pixels(frame.x[nodes])[:, 0]
    seen = where(image, 2)[:, 1]
    metre = abs(np.diff(scene.pixels(np.array([[0.0, 0, 0], [1.0, 0, 0]]))[:, 0])[0])
    assert seen.min() == pytest.approx(columns.min(), abs=0.5 * metre)
    assert seen.max() == pytest.approx(columns.max(), abs=0.5 * metre)
    assert image.shape == (scene.size[1], scene.size[0], 3)


@pytest.mark.parametrize("name", OPEN)
def test_an_open_wheel_is_red_and_at_its_place(scene, pictures, name):
    # Points of contact are sorted by x, then by y.
    places = scene.pixels(np.array([[x, y, 0.14 + 0.2] for x in (-1.0, 1.0) for y in (-1.2, 1.2)]))
    red = where(pictures[name], 0)[:, ::-1]
    nearest = np.linalg.norm(red[:, None] - places, axis=2).argmin(axis=1)
    assert np.unique(nearest).tolist() == OPEN[name]
    for wheel in OPEN[name]:
        assert red[nearest == wheel].mean(axis=0) == pytest.approx(places[wheel], abs=6)


def test_a_gap_below_the_least_is_not_marked(pictures):
    assert not where(pictures["rest"], 0).size


def test_scales_are_said_and_drawn_as_long(scene):
    """The magnification and what is lifted are said; the upright scale is its displacement, magnified."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    figure, axes = pyplot.subplots()
    scene.annotate(axes)
    said = " ".join(text.get_text() for text in axes.texts)
    assert "displacements x 50" in said and "trolley drawn 0.5 m higher" in said
    lengths = [float(re.search(pattern, said)[1]) for pattern in (r"(\S+) m of the", r"(\S+) mm of disp")]
    ends = np.array([[0, 0, 0], [lengths[0], 0, 0], [0, 0, 50.0 * 1e-3 * lengths[1]]])
    expected = scene.pixels(ends)[1:] - scene.pixels(ends)[0]
    drawn = [np.subtract(*line.get_xydata()[::-1]) for line in axes.lines]
    assert drawn == pytest.approx(expected, abs=1e-9)
    pyplot.close(figure)


def test_strip_and_film(frame, scene, tmp_path):
    """A strip shows three moments in two rows; a film has a picture for every time and lasts as asked."""
    u, gap = states(frame, [0.0, 2e-3, 4e-3])
    gap[1] = 1e-3
    frames.strip(tmp_path / "strip.png", scene, u, gap, ["a", "b", "c"], title="three moments")
    with Image.open(tmp_path / "strip.png") as picture:
        strip = np.asarray(picture.convert("RGB"))
    height, width = strip.shape[0] // 2, strip.shape[1] // 2
    parts = [strip[i * height :, j * width : (j + 1) * width][:height] for i in (0, 1) for j in (0, 1)]
    assert [where(part, 1).size > 0 for part in parts] == [True, True, True, False]
    assert [where(part[:-100], 0).size > 0 for part in parts] == [False, True, False, False]
    t, curves = np.array([0.0, 0.1]), {"wheel 1": (np.array([0.0, 0.1]), gap[:2, 0])}
    frames.film(tmp_path / "film.gif", scene, t, u[:2], gap[:2], curves=curves, pause=0.1)
    with Image.open(tmp_path / "film.gif") as film:
        assert film.n_frames == 2 and film.info["duration"] == 100
        pictures = []
        for i in range(2):
            film.seek(i)
            pictures.append(np.asarray(film.convert("RGB"), dtype=int))
    assert np.abs(pictures[0] - pictures[1]).max() > 100
    # The colours of the legend, the same in all pictures.
    for color in ([0, 0, 255], [0, 255, 0], [0x22] * 3, [0xE0, 0x20, 0x1B]):
        assert all((np.abs(each - color).max(axis=2) <= 4).sum() > 20 for each in pictures)


@given(st.floats(1e-6, 1e6))
def test_scales_have_one_digit(length):
    found = drawing.round_down(length)
    digit = found / 10.0 ** np.floor(np.log10(found * (1 + 1e-9)))
    assert min(abs(digit - one) for one in (1, 2, 5)) < 1e-6
    assert found <= length * (1 + 1e-6) and length < 2.5 * found * (1 + 1e-6)


def test_refusals(frame, scene, tmp_path):
    u, gap = states(frame, [0.0, 0.0])
    with pytest.raises(ValueError, match=r"displacements of shape \(n, 396, 3\) and gaps \(n, 4\)"):
        scene.images(u[:, :-1], gap)
    with pytest.raises(ValueError, match=r"gaps \(n, 4\), not \(2, 396, 3\) and \(1, 4\)"):
        frames.strip(tmp_path / "strip.png", scene, u, gap[:1], ["a", "b"])
    with pytest.raises(ValueError, match="two pictures or more, but 1 times and 1 states"):
        frames.film(tmp_path / "film.gif", scene, np.zeros(1), u[:1], gap[:1], curves={})
    with pytest.raises(ValueError, match="nope"):
        frames.Scene(frame, {"all": frames.Tubes(["nope"], 0.1, "b")}, crane.wheels(frame), magnify=1.0)
    floor = RigidContact(frame, "trolley wheels", Plane((0, 0, -1), (0, 0, 1)))
    with pytest.raises(ValueError, match="marks pairs of nodes"):
        frames.Scene(frame, TUBES, floor, magnify=1.0)
    assert not list(tmp_path.iterdir())
