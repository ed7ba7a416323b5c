import CGTK
import Glibc
import MovingHouse
import RelayCore
import RelayGLib
import Relocation

/// The Relocation front end as a window. GTK's main loop drives everything of the relay's that the window sees.
@main struct Program {
    @MainActor static func main() {
        do {
            guard let options = try Options(Array(CommandLine.arguments.dropFirst())) else {
                print(Options.help, terminator: "")
                return
            }
            try run(options)
        } catch {
            var line = "moving-house: \((error as? RelayError)?.message ?? "\(error)")\n"
            line.withUTF8 { _ = write(2, $0.baseAddress, $0.count) }
            exit((error as? RelayError)?.code == .invalidArgument ? 64 : 69)
        }
    }

    @MainActor private static func run(_ options: Options) throws {
        if gtk_init_check() == 0 {
            throw RelayError(.unavailable, "there is no display: start it in a desktop session, or by xvfb-run")
        }
        let relay = try EventRelay(following: options.service, on: options.bus, interfaces: Relocation1.self)
        let loop = MainLoop()
        // The log begins with what happened in the last hour.
        let model = MoveModel(relay, logStart: .now - .seconds(3600))
        let window = MoveWindow(model, options) { loop.quit() }
        // The window holds nothing of the model's, and the model does not hold the window.
        try model.start { [weak window] view in window?.show(view) }
        window.present(options)
        let attachment = MainActor.attach()
        relay.activate()
        withExtendedLifetime((model, window, attachment)) { loop.run() }
        relay.invalidate()
    }
}

/// GLib's main loop, which ends when the window is closed and on SIGTERM and Ctrl-C.
final class MainLoop: @unchecked Sendable {
    // GLib's loops may be used from any thread. This one is there until the program ends.
    private let loop = g_main_loop_new(nil, 0)

    init() {
        for signal in [SIGTERM, SIGINT] {
            g_unix_signal_add(
                signal,
                { loop in
                    // What was given below.
                    g_main_loop_quit(OpaquePointer(loop))
                    return 1  // G_SOURCE_CONTINUE
                }, UnsafeMutableRawPointer(loop))
        }
    }
    func run() { g_main_loop_run(loop) }
    func quit() { g_main_loop_quit(loop) }
}
