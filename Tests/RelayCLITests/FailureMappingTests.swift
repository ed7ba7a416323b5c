import RelayCore
import RelayTool
import Testing

@testable import relay_cli

@Suite("Error replies")
struct FailureMappingTests {
    @Test(
        "an error reply ends the tool with the code that fits, and its message has the error's name",
        arguments: [
            ("org.eventrelay.Relocation1.Error.NoRoom", .refused),
            ("org.eventrelay.Relocation1x.Error.NoRoom", .software),
            ("org.eventrelay.Error.NotPermitted", .notPermitted),
            ("org.freedesktop.DBus.Error.AccessDenied", .notPermitted),
            ("org.eventrelay.Error.Unavailable", .unavailable),
            ("org.freedesktop.DBus.Error.ServiceUnknown", .unavailable),
            ("org.freedesktop.DBus.Error.Spawn.ExecFailed", .unavailable),
            ("org.eventrelay.Error.InvalidArgument", .badValue), ("org.freedesktop.DBus.Error.InvalidArgs", .badValue),
            ("org.eventrelay.Error.SchemaMismatch", .badValue), ("org.eventrelay.Error.TooLarge", .badValue),
            ("org.eventrelay.Error.NotFound", .software), ("org.eventrelay.Error.Internal", .software),
            ("org.freedesktop.DBus.Error.UnknownMethod", .software), ("com.example.Other", .software),
        ] as [(String, ExitCode)])
    func remote(name: String, code: ExitCode) {
        let error = ErrorNames.relayError(RemoteError(name: name, message: "no room"), calling: "it")
        let failure = FailureMapping.failure(error, interface: "org.eventrelay.Relocation1", member: "OrderBox")
        #expect(failure == CLIFailure(code, "OrderBox: no room (\(name))"))
    }

    @Test("what libdbus says when there is no bus is no reply of the service's")
    func noBus() {
        let remote = RemoteError(name: "org.freedesktop.DBus.Error.FileNotFound", message: "no such file")
        let error = RelayError(.unavailable, "no connection to the session bus: no such file", cause: remote)
        #expect(
            FailureMapping.failure(error, interface: "a.b", member: "Introspect")
                == CLIFailure(.unavailable, "no connection to the session bus: no such file"))
    }

    @Test("no answer in time is 75, and says that the command may have run")
    func timeout() {
        let error = RelayError(.timedOut, "no answer within 1.0 seconds", mayHaveRun: true)
        #expect(
            FailureMapping.failure(error, interface: "a.b", member: "Do")
                == CLIFailure(.timedOut, "no answer within 1.0 seconds; it may have run"))
    }
}
