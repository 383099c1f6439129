"""The scheme of Noh and Bathe with impulses for dense systems, written from its equations alone."""

import itertools

import numpy as np

P = 0.54
Q1 = (1 - 2 * P) / (2 * P * (1 - P))
Q2 = 0.5 - P * Q1
Q0 = 0.5 - Q1 - Q2


class Point:
    """A contact point: ``gap(u, t)``; ``bases(u, t)``, rows of normal and tangents; the obstacle's motion.

    ``velocity(u, t)`` and ``acceleration(u, t)`` are components along these rows.
    """

    def __init__(self, gap, bases, e=0.0, mu=0.0, velocity=None, acceleration=None):
        self.gap, self.bases, self.e, self.mu = gap, bases, e, mu
        none = lambda u, t: np.zeros(len(bases(u, t)))  # noqa: E731
        self.velocity, self.acceleration = velocity or none, acceleration or none

    def resting(self):
        """The same without restitution."""
        return Point(self.gap, self.bases, 0.0, self.mu, self.velocity, self.acceleration)


def impulses(points, bases, inverse, v, before, u, t):
    """Impulses of all closed points by block Gauss-Seidel sweeps, shape (components,)."""
    closed = [k for k, p in enumerate(points) if p.gap(u, t) <= 1e-12]
    r = [np.zeros(len(B)) for B in bases]
    for _ in range(400):
        change = 0.0
        for k in closed:
            B, p, old = bases[k], points[k], r[k].copy()
            w = B @ v - p.velocity(u, t)
            w[0] += p.e * (B[0] @ before - p.velocity(u, t)[0])
            r[k][0] = max(0.0, r[k][0] - w[0] / (B[0] @ (inverse * B[0])))
            v += inverse * ((r[k] - old) @ B)
            if len(B) > 1:
                weight = max(B[1:] ** 2 @ inverse)
                trial = r[k][1:] - (B[1:] @ v - p.velocity(u, t)[1:]) / weight
                size, limit = np.linalg.norm(trial), p.mu * r[k][0]
                middle = r[k].copy()
                r[k][1:] = trial * min(1.0, limit / size) if size > 0 else trial
                v += inverse * ((r[k] - middle) @ B)
            change = max(change, np.abs(r[k] - old).max())
        if change <= 1e-14 * max((np.abs(x).max() for x in r), default=0.0):
            break
    return r


def position_acceleration(points, bases, inverse, a, r, u, t):
    """``a~``: every combination of pressing and lifting among the sliding points is tried."""
    acting = [k for k in range(len(points)) if r[k][0] > 0]
    sliding = [
        k
        for k in acting
        if len(bases[k]) > 1 and np.linalg.norm(r[k][1:]) >= points[k].mu * r[k][0] * (1 - 1e-9)
    ]
    for pressing in itertools.product([True, False], repeat=len(sliding)):
        presses = dict(zip(sliding, pressing))
        rows, columns, right = [], [], []
        for k in acting:
            B, p = bases[k], points[k]
            wanted = p.acceleration(u, t) - B @ a
            rows.append(B[0])
            right.append(wanted[0])
            column = B[0].copy()
            if k in presses:
                size = np.linalg.norm(r[k][1:])
                if presses[k] and size > 0:
                    column = column + p.mu * (r[k][1:] / size) @ B[1:]
                columns.append(column)
            else:
                columns += [column, *B[1:]]
                rows += list(B[1:])
                right += list(wanted[1:])
        if not rows:
            return a
        W, C = np.array(rows), np.array(columns)
        lam = np.linalg.lstsq(W @ (inverse[:, None] * C.T), np.array(right), rcond=1e-13)[0]
        found, normal = dict.fromkeys(sliding, 0.0), 0
        for k in acting:
            if k in found:
                found[k] = lam[normal]
            normal += 1 if k in presses else len(bases[k])
        if all((found[k] > 0) == presses[k] for k in sliding):
            return a + inverse * (lam @ C)
    raise AssertionError("no combination fits")


def run(mass, force, points, h, steps, u, v, *, held=(), t=0.0):
    """Histories of u, v, summed impulses of all components, and kinetic energy."""
    u, v, mass = np.array(u, float), np.array(v, float), np.array(mass, float)
    inverse = 1 / mass
    inverse[list(held)] = 0.0
    a = inverse * force(t, u, v)
    bases = [p.bases(u, t) for p in points]
    # What rests on the obstacle and is pressed stays there.
    last = impulses([p.resting() for p in points], bases, inverse, v + P * h * a, v, u, t)
    us, vs, rs = [u.copy()], [v.copy()], [np.zeros(sum(map(len, bases)))]
    for n in range(steps):
        begin, total, accelerations = t + n * h, 0.0, [a]
        at = position_acceleration(points, bases, inverse, a, last, u, begin)
        for tau, weights, end in (
            (P * h, (0.5, 0.5), begin + P * h),
            ((1 - P) * h, (Q0, 0.5 + Q1, Q2), begin + h),
        ):
            before = v.copy()
            u = u + tau * v + tau**2 / 2 * at
            accelerations.append(inverse * force(end, u, v + tau * at))
            v = v + tau * sum(w * each for w, each in zip(weights, accelerations))
            bases = [p.bases(u, end) for p in points]
            last = impulses(points, bases, inverse, v, before, u, end)
            total = total + (np.concatenate(last) if last else np.zeros(0))
            at = position_acceleration(points, bases, inverse, accelerations[-1], last, u, end)
        a = accelerations[-1]
        us.append(u.copy())
        vs.append(v.copy())
        rs.append(total)
    return np.array(us), np.array(vs), np.array(rs)
