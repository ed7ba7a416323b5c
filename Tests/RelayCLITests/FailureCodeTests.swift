import RelayCore
import RelayTool
import TestTraits
import Testing

@testable import relay_cli

@Suite("What a failure means for a script", .tags(.g8)) struct FailureCodeTests {
    @Test("a service whose disk is full: 74, as it ends itself with then") func full() {
        let error = RelayError(
            .storageFull, "full",
            cause: RemoteError(name: "org.eventrelay.Error.StorageFull", message: "the disk is full"))
        let failure = FailureMapping.failure(
            error, service: "org.example.A", interface: "org.example.A1", member: "Go", timeout: .seconds(1))
        #expect(failure.code == .outputFailed && failure.message.hasPrefix("Go: the disk is full"))
    }
    @Test(
        "a command that may have run has a code of its own, which no absent service has, and says so in JSON",
        arguments: [RelayError.Code.unavailable, .outcomeUnknown], [true, false])
    func doubt(code: RelayError.Code, hasRemote: Bool) {
        let remote = RemoteError(name: "org.freedesktop.DBus.Error.NoReply", message: "it left")
        func failure(mayHaveRun: Bool, interface: String = "org.example.A1") -> CLIFailure {
            FailureMapping.failure(
                RelayError(code, "it left", cause: hasRemote ? remote : nil, mayHaveRun: mayHaveRun),
                service: "org.example.A", interface: interface, member: "Go", timeout: .seconds(1))
        }
        let inDoubt = failure(mayHaveRun: true)
        #expect(inDoubt.code == .timedOut && inDoubt.message.contains("it may have run"))
        #expect(inDoubt.json.contains(#""kind":"outcomeUnknown""#) && inDoubt.json.contains(#""mayHaveRun":true"#))
        for other in [
            failure(mayHaveRun: false), failure(mayHaveRun: true, interface: Stream1.name),
            failure(mayHaveRun: true, interface: "org.freedesktop.DBus.Properties"),
        ] { #expect(other.code == FailureMapping.exitCode(code) && !other.json.contains("mayHaveRun")) }
    }
}
