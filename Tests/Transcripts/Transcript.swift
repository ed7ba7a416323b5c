/// A file of command lines, each with all that comes of it: standard output, standard error, exit code.
///
/// Lines by how they begin:
///
///     # a comment
///     policy: XML                what the bus forbids, beside what every bus of a test permits
///     normal: PATTERN -> TEXT    what else differs from run to run, and how it stands here
///     + LINE                     starts a program, and waits until it says that it is ready
///     -                          ends the one that was started last
///     $ LINE                     runs a line of shell to its end
///     & TEXT: LINE               meanwhile: once it has written TEXT, runs LINE
///     again N M                  it is run again when it ends with one of these: in time, on a machine that is slow
///     > TEXT                     a line of its standard output
///     ! TEXT                     a line of its standard error
///     exit N                     its exit code
struct Transcript: Sendable {
    struct Run: Sendable {
        let line: String
        /// In the file, from 1.
        let number: Int
        var meanwhile: [(said: String, line: String)] = []
        var again: Set<Int32> = []
        var outcome = Outcome()
    }
    struct Outcome: Equatable, Sendable {
        var output: [String] = []
        var errors: [String] = []
        /// nil: not recorded yet.
        var code: Int32?
    }
    enum Step: Sendable {
        /// A comment, an empty line, a rule: as it stands.
        case text(String)
        case start(String)
        case end
        case run(Run)
    }

    let name: String
    private(set) var steps: [Step] = []
    private(set) var policy = ""
    private(set) var rules: [(pattern: String, text: String)] = []

    var runs: [Run] { steps.compactMap { if case .run(let run) = $0 { run } else { nil } } }

    /// Throws the line that has no meaning.
    init(name: String, text: String) throws(Malformed) {
        self.name = name
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last == "" { lines.removeLast() }
        for (index, line) in lines.enumerated() {
            let number = index + 1
            if let rest = line.rest(of: "$ ") {
                steps.append(.run(Run(line: rest, number: number)))
            } else if let rest = line.rest(of: "+ ") {
                steps.append(.start(rest))
            } else if line == "-" {
                steps.append(.end)
            } else if line.isEmpty || line.hasPrefix("#") {
                steps.append(.text(line))
            } else if let rest = line.rest(of: "policy: ") {
                policy += rest
                steps.append(.text(line))
            } else if let rest = line.rest(of: "normal: ") {
                guard let arrow = rest.halves(at: " -> ") else { throw Malformed(name: name, number: number) }
                rules.append((arrow.before, arrow.behind))
                steps.append(.text(line))
            } else {
                guard case .run(var run)? = steps.popLast(), run.take(line) else {
                    throw Malformed(name: name, number: number)
                }
                steps.append(.run(run))
            }
        }
    }
    struct Malformed: Error, CustomStringConvertible {
        let name: String
        let number: Int
        var description: String { "\(name):\(number) is no line of a transcript, or not in its place" }
    }

    /// As it would stand in the file, with these outcomes of its runs.
    func text(_ outcomes: [Outcome]) -> String {
        var rest = outcomes[...]
        let lines = steps.flatMap { step -> [String] in
            switch step {
            case .text(let text): [text]
            case .start(let line): ["+ \(line)"]
            case .end: ["-"]
            case .run(let run):
                ["$ \(run.line)"] + run.meanwhile.map { "& \($0.said): \($0.line)" }
                    + (run.again.isEmpty ? [] : ["again " + run.again.sorted().map(String.init).joined(separator: " ")])
                    + (rest.popFirst() ?? run.outcome).lines
            }
        }
        return lines.map { $0 + "\n" }.joined()
    }
}

extension Transcript.Outcome {
    var lines: [String] {
        output.map { $0.isEmpty ? ">" : "> \($0)" } + errors.map { $0.isEmpty ? "!" : "! \($0)" }
            + (code.map { ["exit \($0)"] } ?? [])
    }
}

extension Transcript.Run {
    /// False: the line is none of a run's.
    fileprivate mutating func take(_ line: String) -> Bool {
        if let rest = line.rest(of: "& "), let colon = rest.halves(at: ": ") {
            meanwhile.append((colon.before, colon.behind))
        } else if line == ">" || line == "!" {
            if line == ">" { outcome.output.append("") } else { outcome.errors.append("") }
        } else if let rest = line.rest(of: "> ") {
            outcome.output.append(rest)
        } else if let rest = line.rest(of: "! ") {
            outcome.errors.append(rest)
        } else if let rest = line.rest(of: "again ") {
            again = Set(rest.split(separator: " ").compactMap { Int32($0) })
        } else if let rest = line.rest(of: "exit "), let code = Int32(rest) {
            outcome.code = code
        } else {
            return false
        }
        return true
    }
}

extension String {
    fileprivate func rest(of prefix: String) -> String? {
        hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
    }
    fileprivate func halves(at separator: String) -> (before: String, behind: String)? {
        guard let range = firstRange(of: separator) else { return nil }
        return (String(self[..<range.lowerBound]), String(self[range.upperBound...]))
    }
}
