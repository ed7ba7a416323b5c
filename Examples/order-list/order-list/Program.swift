import CGTK
import Glibc
import OrderList
import RelayCore
import RelayGLib

@main struct Program {
    @MainActor static func main() {
        // The frame of a `RelayProgram` has no place for a main loop that is not its own.
        do { try run() } catch {
            var line = "order-list: \((error as? RelayError)?.message ?? "\(error)")\n"
            line.withUTF8 { _ = write(2, $0.baseAddress, $0.count) }
            exit((error as? RelayError)?.exitCode ?? 70)
        }
    }
    @MainActor private static func run() throws {
        guard gtk_init_check() != 0 else { throw RelayError(.unavailable, "there is no display") }
        let relay = try EventRelay(following: "org.example.OrderList", interfaces: Orders1.self)
        let loop = g_main_loop_new(nil, 0)!
        let window = try OrderWindow(relay, closed: loop)
        let attachment = MainActor.attach()
        relay.activate()
        withExtendedLifetime((window, attachment)) { g_main_loop_run(loop) }
        relay.invalidate()
    }
}
