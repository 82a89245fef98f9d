"""What the programs that measure share: building weft, running commands, naming the machine, writing pages."""

import datetime
import json
import os
import pathlib
import subprocess
import sys

BENCH = pathlib.Path(__file__).resolve().parent
ROOT = BENCH.parent
# What the papers measured, where an application does something else unless told.
OF_PAPERS = {"unsharp_mask": ["border=constant"], "optical_flow": ["window=3", "ties=first"]}


def of_papers(application):
    """The arguments that make it what its paper measured."""
    return [word for assignment in OF_PAPERS.get(application, []) for word in ("--param", assignment)]


def fail(message):
    print(f"{pathlib.Path(sys.argv[0]).name}: error: {message}", file=sys.stderr)
    sys.exit(2)


def say(message):
    print(f"== {message}", file=sys.stderr, flush=True)


def output_of(command, **more):
    """What the command prints; its complaints go to our stderr."""
    try:
        return subprocess.run([str(c) for c in command], check=True, stdout=subprocess.PIPE, text=True, **more).stdout
    except OSError as error:
        fail(f"cannot run {command[0]}: {error.strerror}")
    except subprocess.CalledProcessError as error:
        sys.stderr.write(error.stdout)
        fail(f"{' '.join(str(c) for c in command)} failed with exit code {error.returncode}")


def first_line(command):
    """The first line that the command prints, or nothing if it cannot be run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env={**os.environ, "LC_ALL": "C"})
    except OSError:
        return ""
    return done.stdout.partition("\n")[0].strip() if done.returncode == 0 else ""


def built(program):
    """The program in build/release/bin, built if need be."""
    say(f"building build/release/bin/{program}")
    folder = ROOT / "build" / "release"
    if not (folder / "CMakeCache.txt").exists():
        output_of(["cmake", "--preset", "release", "-DWEFT_BUILD_TESTS=OFF"], cwd=ROOT)
    output_of(["cmake", "--build", folder, "--target", f"bin/{program}"])
    return folder / "bin" / program


def built_weft():
    return built("weft")


def listed(weft):
    """The applications that are not examples of what is refused."""
    applications = json.loads(output_of([weft, "list", "--json"]))["applications"]
    return [a["name"] for a in applications if not a.get("refused")]


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def commit():
    return first_line(["git", "describe", "--always", "--abbrev=12", "--exclude=*", "--dirty"]) or "unknown"


def machine(threads):
    fields = {}
    try:
        text = subprocess.run(["lscpu"], capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}).stdout
        fields = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    except OSError:
        pass
    compiler = os.environ.get("WEFT_CXX")
    versions = (first_line([c, "--version"]) for c in ([compiler] if compiler else ["c++", "g++", "clang++"]))
    return {
        "cpu": fields.get("Model name", "unknown").strip(),
        "cores": len(os.sched_getaffinity(0)),
        "threads": threads,
        "load": round(os.getloadavg()[0], 2),
        "commit": commit(),
        "compiler": next(filter(None, versions), "unknown"),
    }


def machine_lines(report):
    """The head of a page."""
    m = report["machine"]
    return f"""- machine: {m['cpu']}, {m['cores']} cores, {m['threads']} threads used, load {m['load']} before the run
- date: {report['date']}
- commit: {m['commit']}
- compiler: {m['compiler']}
"""


def table(header, rows):
    """Markdown; the columns after the first two are numbers, but for those whose header ends in ':'."""
    left = [i < 2 or name.endswith(":") for i, name in enumerate(header)]
    lines = [[name.rstrip(":") for name in header], [":---" if is_left else "---:" for is_left in left], *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def write(stem, report, text):
    """The report as STEM.json and the page as STEM.md."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    for suffix, content in ((".json", json.dumps(report, indent=2) + "\n"), (".md", text)):
        file = stem.with_name(stem.name + suffix)
        file.write_text(content, encoding="utf-8")
        print(file)
