@testable import RelayEvents
import Testing

@Suite("How a program ends") struct ProgramEndTests {
    private struct Own: ProgramFailure {
        let exitCode: Int32
        var exitMessage: String { "as told" }
    }
    private struct Plain: Error, CustomStringConvertible { let description = "plain" }

    private func end(_ error: any Error, wasAsked: Bool = false) -> ProgramEnd {
        ProgramEnd(of: .failure(error), wasAsked: wasAsked)
    }
    @Test("with 0 and no word, if it returns") func returned() {
        let end = ProgramEnd(of: .success(()), wasAsked: false)
        #expect(end.code == 0 && end.message == nil)
    }
    @Test("a cancellation that a signal asked for is no error; another one is") func cancelled() {
        for error: any Error in [CancellationError(), RelayError(.cancelled, "before it had begun")] {
            #expect(end(error, wasAsked: true).code == 0 && end(error, wasAsked: true).message == nil)
            #expect(end(error).code == 70 && end(error).message != nil)
        }
        #expect(end(RelayError(.unavailable, "gone"), wasAsked: true).code == 69)
    }
    @Test(
        "with a code of sysexits for each kind of error",
        arguments: [
            (.invalidArgument, 64), (.schemaMismatch, 65), (.unavailable, 69), (.notFound, 69), (.storageFull, 74),
            (.outcomeUnknown, 74), (.timedOut, 75), (.conflict, 75), (.limitsExceeded, 75), (.notPermitted, 77),
            (.internalFailure, 70), (.tooLarge, 70), (.unsupportedType, 70), (.init(rawValue: "Unheard"), 70),
        ] as [(RelayError.Code, Int32)])
    func codes(code: RelayError.Code, expected: Int32) {
        #expect(end(RelayError(code, "why")) == end(Own(exitCode: expected), message: "why"))
    }
    private func end(_ error: any Error, message: String) -> ProgramEnd {
        struct Worded: ProgramFailure {
            let exitCode: Int32
            let exitMessage: String
        }
        return end(Worded(exitCode: (error as? Own)?.exitCode ?? 0, exitMessage: message))
    }
    @Test("with what the error says, if it says so; never with a code that means success or a signal") func own() {
        #expect(end(Own(exitCode: 3)).code == 3 && end(Own(exitCode: 3)).message == "as told")
        for code: Int32 in [0, -1, 256, .min, .max] { #expect(end(Own(exitCode: code)).code == 70) }
        #expect(end(Plain()).code == 70 && end(Plain()).message == "plain")
        #expect(end(RelayError(.unknownRefusal, "why")).code == 1)
        // What lies beneath knows better.
        #expect(end(RelayError(.unavailable, "damaged", cause: Own(exitCode: 65))).code == 65)
    }
    @Test("in one line that does nothing to a terminal, and ends") func line() {
        #expect(ProgramEnd.line("a\nb\u{1B}[31m\u{202E}é") == #"a\u000ab\u001b[31m\u202eé"#)
        #expect(ProgramEnd.line(String(repeating: "x", count: 5_000)).unicodeScalars.count == 4_001)
    }
}
