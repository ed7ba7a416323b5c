import TestTraits
import Testing

@testable import RelayTool

@Suite("A command line, read by what a program declares", .tags(.g8))
struct CommandLineTests {
    private static let loud = Option(switch: "loud", letter: "l", "more words")
    private static let number = Option<UInt64>("number", .count(of: "things", 1...9), "how many", standard: "3")
    private static let name = Option<String?>("name", ValueKind("NAME") { text throws(Unfit) in text }, "what for")
    private static let left = Option(switch: "left", "to the left")
    private static let right = Option(switch: "right", "to the right")
    private static let source = Operand(ValueKind<String>("SOURCE") { text throws(Unfit) in text }, "a file to read")
    private static let target = Operand(
        optional: ValueKind<String>("TARGET") { text throws(Unfit) in
            if text == "-" { throw Unfit("is no file") }
            return text
        }, "a file to write")
    private static let sides = Operand(any: ValueKind.count("SIDE", of: "sides", 1...6), "sides")

    private static let program = ProgramDeclaration(
        CommandDeclaration("tool", summary: "a tool", options: [loud], exitCodes: [ExitMeaning(.ok, "success")]),
        verbs: [
            CommandDeclaration(
                "copy", summary: "copies", operands: [source, target], options: [number, name],
                exitCodes: [ExitMeaning(.ok, "success")]),
            CommandDeclaration(
                "turn", summary: "turns", operands: [sides], options: [left, right],
                exclusive: [ExclusiveOptions(left, right, fault: "two directions were asked for")],
                exitCodes: [ExitMeaning(.ok, "success")]),
        ])

    private func line(_ arguments: String...) throws -> ParsedLine {
        guard case .run(_, let line) = try Self.program.parse(arguments) else { throw UsageError("nothing to run") }
        return line
    }
    private func refusal(_ arguments: String...) -> String? {
        do throws(UsageError) {
            _ = try Self.program.parse(arguments)
            return nil
        } catch { return error.message }
    }

    @Test("what is left out stands for its standard, or for nothing")
    func absent() throws {
        let line = try line("copy", "a")
        #expect(line[Self.number] == 3 && line[Self.name] == nil && !line[Self.loud])
        #expect(line.all(Self.number).isEmpty)
        #expect(line[Self.source] == "a" && line[Self.target] == nil)
        #expect(try self.line("turn")[Self.sides] == [])
    }

    @Test("of an option that is given again the last holds, and all can be had")
    func again() throws {
        let line = try line("copy", "--number", "1", "a", "--number=2", "b", "--name", "", "--name=x")
        #expect(line[Self.number] == 2 && line.all(Self.number) == [1, 2])
        #expect(line[Self.name] == "x" && line.all(Self.name) == ["", "x"])
        #expect(line[Self.source] == "a" && line[Self.target] == "b")
    }

    @Test("an option has its letter, too")
    func letters() throws {
        #expect(try line("-l", "copy", "a")[Self.loud])
        #expect(try line("copy", "a", "-l")[Self.loud])
        #expect(refusal("copy", "a", "-n", "1") == "unknown option '-n'; options are written out: " + Self.copyOptions)
    }

    private static let copyOptions = "'copy' has --number and --name; 'help copy' explains them"

    @Test("an unknown option: one that is near, of the verb before others, or all that the verb has")
    func unknownOptions() throws {
        #expect(refusal("copy", "--frob", "a") == "unknown option '--frob'; " + Self.copyOptions)
        #expect(refusal("--frob", "copy", "a") == "unknown option '--frob'; " + Self.copyOptions)
        #expect(refusal("--frob") == "unknown option '--frob'; --help lists the options")
        #expect(refusal("--frob", "--", "copy") == "unknown option '--frob'; --help lists the options")
        #expect(refusal("copy", "--numbre", "3") == "unknown option '--numbre'; did you mean '--number'?")
        // Of another verb, where this one has nothing like it.
        #expect(refusal("turn", "--numbre", "3") == "unknown option '--numbre'; did you mean '--number'?")
    }

    @Test("operands are typed, counted, and any number of them stay in their order")
    func operands() throws {
        #expect(try line("turn", "3", "--left", "1", "6")[Self.sides] == [3, 1, 6])
        #expect(refusal("turn", "3", "7") == "'7' is no number of sides from 1 to 6")
        #expect(refusal("copy") == "'copy' needs a file to read")
        #expect(refusal("copy", "a", "-") == "'-' is no file")
        #expect(refusal("copy", "a", "b", "c") == "'copy' takes no more than SOURCE TARGET: 'c'")
    }

    @Test("of options that exclude one another one may be given, also twice")
    func exclusive() throws {
        #expect(try line("turn", "--left", "--left")[Self.left])
        #expect(refusal("turn", "--left", "--right") == "two directions were asked for; give one of --left and --right")
    }

    @Test("the verb is what is wrong before its options are; an option of another verb says whose it is")
    func order() {
        #expect(refusal("trun", "--number", "0") == "no command 'trun'; did you mean 'turn'?")
        #expect(refusal("turn", "--number", "0") == "option '--number' belongs to 'copy', not to 'turn'")
        #expect(refusal("copy", "--number", "0") == "option '--number': '0' is no number of things from 1 to 9")
        #expect(refusal() == "no command; there are copy and turn (tool --help)")
    }

    @Test("help and version come before everything that is wrong with the rest of the line")
    func standard() throws {
        for (arguments, verb) in [(["--help"], nil), (["-h", "copy"], "copy"), (["turn", "9", "--help"], "turn")] {
            guard case .help(let topic) = try Self.program.parse(arguments) else {
                Issue.record("\(arguments)")
                continue
            }
            #expect(topic?.name == verb)
        }
        guard case .version = try Self.program.parse(["copy", "--number=0", "--version"]) else {
            Issue.record("no version")
            return
        }
        #expect(refusal("trun", "--help") == "no command 'trun'; did you mean 'turn'?")
    }

    @Test("a program without verbs takes options, and names the operand that it does not take")
    func withoutVerbs() throws {
        let program = ProgramDeclaration(
            CommandDeclaration("daemon", summary: "serves", options: [Self.number], exitCodes: []))
        guard case .run(nil, let line) = try program.parse(["--number", "4"]) else {
            Issue.record("not to run")
            return
        }
        #expect(line[Self.number] == 4)
        #expect(throws: UsageError("'daemon' takes no operand: 'extra'")) { try program.parse(["extra"]) }
        guard case .help(nil) = try program.parse(["extra", "--help"]) else {
            Issue.record("no help")
            return
        }
    }
}
