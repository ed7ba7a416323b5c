import RelayTestKit

@testable import RelayCore

/// A `dbus-daemon` that is reached by a socket of this machine, and by TCP, which passes no descriptors and tells no user.
final class TCPBus: Sendable {
    let local: Bus
    let remote: Bus
    private let folder: TestFolder
    private let daemon: RunningProgram

    init() async throws {
        folder = try TestFolder()
        try folder.write(
            """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <type>session</type>
              <listen>unix:path=\(folder.path)/bus</listen>
              <listen>tcp:host=localhost,bind=127.0.0.1,port=0,family=ipv4</listen>
              <auth>EXTERNAL</auth>
              <auth>ANONYMOUS</auth>
              <allow_anonymous/>
              <policy context="default">
                <allow send_destination="*" eavesdrop="true"/>
                <allow eavesdrop="true"/>
                <allow own="*"/>
              </policy>
            </busconfig>

            """, to: "bus.conf")
        daemon = try RunningProgram(
            "dbus-daemon",
            ["--config-file=\(folder.path)/bus.conf", "--nofork", "--nopidfile", "--print-address=1"],
            environment: Programs.environment())
        // Which port it is, it says itself.
        let addresses = try await daemon.line(containing: "tcp:").split(separator: ";").map(String.init)
        (local, remote) = (
            .address(addresses.first { $0.hasPrefix("unix:") } ?? ""),
            .address(addresses.first { $0.hasPrefix("tcp:") } ?? "")
        )
    }
}
