"""Exceptions. Their messages are those of the command line, and `exit_status` is its exit status."""


class Error(Exception):
    """Base of all exceptions of frazil; itself any error of no other class, such as a full disk."""

    exit_status = 1

    # Not that of KeyError, which quotes the message.
    __str__ = Exception.__str__


class InputError(Error, ValueError):
    """Bad input: an argument, a value or a file. The message has the found and the expected value."""

    exit_status = 2


class SceneError(InputError):
    """A scene that is invalid, or a change of a parameter that is not possible. The message has the key, and
    for a file the line."""


class NameNotFoundError(InputError, KeyError):
    """A set of particles, a column or a key that does not exist."""


class DeviceError(Error, RuntimeError):
    """The device or its driver: there is none, it lacks a feature or memory, or it was lost."""

    exit_status = 3


class FaultError(Error, RuntimeError):
    """The state violates an invariant: particles are not finite, lost, or outside the domain, or have gained
    energy from nothing. The message has step, pass, particle and remedies. The simulation cannot go on."""

    exit_status = 4
