import RelayCore
import RelayTool
import TestTraits
import Testing

@testable import relay_cli

@Suite("Error replies", .tags(.g8))
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
        let failure = FailureMapping.failure(
            error, service: "s.t", interface: "org.eventrelay.Relocation1", member: "OrderBox", timeout: .seconds(1))
        let refusal = code == .refused ? name : nil
        // Of what the bus says in place of the service.
        let advice = [
            "org.freedesktop.DBus.Error.AccessDenied": "; 'doctor' shows what this user may do with 's.t'",
            "org.freedesktop.DBus.Error.Spawn.ExecFailed":
                "; the bus cannot start 's.t': see its D-Bus service file, and its log",
        ]
        #expect(
            failure
                == CLIFailure(
                    code, "OrderBox: no room (\(name))\(advice[name] ?? "")", refusal: refusal,
                    name: refusal == nil ? name : nil, mayHaveRun: refusal == nil && error.mayHaveRun))
    }

    @Test("what libdbus says when there is no bus is no reply of the service's")
    func noBus() {
        let remote = RemoteError(name: "org.freedesktop.DBus.Error.FileNotFound", message: "no such file")
        let error = RelayError(.unavailable, "no connection to the session bus: no such file", cause: remote)
        #expect(
            FailureMapping.failure(
                error, service: "s.t", interface: "a.b", member: "Introspect", timeout: .seconds(1))
                == CLIFailure(.unavailable, "no connection to the session bus: no such file"))
    }

    @Test(
        "an address that libdbus cannot use is no reply of the service's either", arguments: ["NotSupported", "Failed"])
    func unusableAddress(name: String) {
        let remote = RemoteError(name: "org.freedesktop.DBus.Error.\(name)", message: "no autolaunch")
        let local = RelayError(.unavailable, "no connection to the bus at autolaunch:: no autolaunch", cause: remote)
        #expect(failure(local) == CLIFailure(.unavailable, "no connection to the bus at autolaunch:: no autolaunch"))
        #expect(
            failure(ErrorNames.relayError(remote, calling: "it"))
                == CLIFailure(
                    .software, "Do: no autolaunch (org.freedesktop.DBus.Error.\(name))",
                    name: "org.freedesktop.DBus.Error.\(name)", mayHaveRun: true))
    }

    @Test("no answer in time is 75, names the time that was given, and says that the command may have run")
    func timeout() {
        let error = RelayError(.timedOut, "a.b.Do at :1.5: no answer within 0.99 seconds", mayHaveRun: true)
        #expect(
            failure(error)
                == CLIFailure(
                    .timedOut,
                    "Do: no answer of 's.t' within 1.0 seconds; it may have run; see whether its process is stopped or busy "
                        + "('doctor'), or wait longer with --timeout SECONDS", mayHaveRun: true))
        let question = FailureMapping.failure(
            error, service: "s.t", interface: "org.freedesktop.DBus.Introspectable", member: "Introspect",
            timeout: .milliseconds(300))
        #expect(
            question
                == CLIFailure(
                    .timedOut,
                    "Introspect: no answer of 's.t' within 0.3 seconds; see whether its process is stopped or busy "
                        + "('doctor'), or wait longer with --timeout SECONDS"))
    }

    @Test("a service or bus that goes away during a call leaves it open whether the command ran")
    func wentAway() {
        let left = RemoteError(name: "org.freedesktop.DBus.Error.NoReply", message: "it left")
        #expect(
            failure(ErrorNames.relayError(left, calling: "it"))
                == CLIFailure(
                    .timedOut,
                    "Do: it left (org.freedesktop.DBus.Error.NoReply); it may have run; the log of 's.t' shows why it left",
                    name: "org.freedesktop.DBus.Error.NoReply", mayHaveRun: true, kind: "outcomeUnknown"))
        let cut = RelayError(.unavailable, "a.b.Do: the bus closed the connection", mayHaveRun: true)
        #expect(
            failure(cut)
                == CLIFailure(
                    .timedOut, "a.b.Do: the bus closed the connection; it may have run", mayHaveRun: true,
                    kind: "outcomeUnknown"))
    }

    private func failure(_ error: RelayError) -> CLIFailure {
        FailureMapping.failure(error, service: "s.t", interface: "a.b", member: "Do", timeout: .seconds(1))
    }
}
