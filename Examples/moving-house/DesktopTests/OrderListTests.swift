import Glibc
import RelayTestKit
import TestTraits
import Testing

/// Examples/order-list: its window under an X server.
@Suite("The window of order-list", .heavy, .serialized) struct OrderListTests {
    @Test("shows 20,000 orders, says that the service is away, and has them again when it is back") func title()
        async throws
    {
        let (bus, folder, desktop) = (try PrivateBus(), try TestFolder(), try await Desktop())
        let environment = Programs.environment([
            "DISPLAY": desktop.display, "DBUS_SESSION_BUS_ADDRESS": bus.address, "HOME": folder.path,
            "XDG_RUNTIME_DIR": folder.path, "GDK_BACKEND": "x11", "GSK_RENDERER": "cairo", "GTK_A11Y": "none",
            "GTK_USE_PORTAL": "0", "GSETTINGS_BACKEND": "memory", "GTK_IM_MODULE": "gtk-im-context-simple",
            "LANG": "C.UTF-8",
        ])
        func service() throws -> RunningProgram {
            try RunningProgram(
                Programs.folder + "/order-service", ["\(folder.path)/orders"], environment: environment)
        }
        func isTitled(_ text: String) async throws -> Bool {
            let found = try await RunningProgram.run(
                "xdotool", ["search", "--onlyvisible", "--name", "^\(text)$"], environment: environment)
            return !found.output.isEmpty
        }
        let first = try service()
        let window = try RunningProgram(Programs.folder + "/order-list", [], environment: environment)
        #expect(try await eventually { try await isTitled("20000 orders") })
        first.signal(SIGKILL)
        #expect(await first.outcome().exit == .signal(SIGKILL))
        // What it says then is the state of the connection, or why the list cannot be read.
        #expect(try await eventually { try await !isTitled("20000 orders") })
        let second = try service()
        #expect(try await eventually { try await isTitled("20000 orders") })
        _ = await window.terminate()
        _ = await second.terminate()
    }
}
