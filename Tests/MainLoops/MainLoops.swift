import Dispatch
import Glibc
import RelayCore
import Relocation
import TestSupport

/// A front end of `relay-service` on one of several main loops: `--loop KIND --bus ADDRESS`. It orders a kitchen box,
/// and reports what it is called with, and where. docs/MAIN_LOOPS.md shows its parts.
@main struct MainLoops {
    @MainActor static func main() throws {
        let options = ProgramOptions(CommandLine.arguments)
        let bus = Bus.address(options.required("bus"))
        report("loop")
        switch options.required("loop") {
        case "poll": try runPoll(bus)
        case "glib": try runGLib(bus)
        case "glib-target": try runGLibTarget(bus)
        case "run-loop": try runRunLoop(bus)
        case "dispatch-main": try runDispatchMain(bus)
        case let other: fatalError("no loop '\(other)'")
        }
    }
}

/// `TEXT @ THREAD`, at once.
func report(_ text: String) {
    let place = Place.isMainQueueOnly ? (Place.isOnMainQueue ? "main queue" : "elsewhere") : "\(pthread_self())"
    var line = "\(text) @ \(place)\n"
    line.withUTF8 { _ = write(1, $0.baseAddress, $0.count) }
}

/// After `dispatchMain()` the main queue has no thread of its own: then the queue is what is reported.
enum Place {
    private static let key = DispatchSpecificKey<Bool>()
    static func markMainQueue() { DispatchQueue.main.setSpecific(key: key, value: true) }
    static var isMainQueueOnly: Bool { CommandLine.arguments.contains("dispatch-main") }
    static var isOnMainQueue: Bool { DispatchQueue.getSpecific(key: key) == true }
}

func text(_ inventory: Inventory) -> String { "document " + inventory.boxes.map(\.title).joined(separator: ", ") }

/// How the order ended.
func text(_ outcome: CommandOutcome<OrderBox>) -> String {
    switch outcome {
    case .success(let reply): "ordered \(reply.boxID)"
    case .refused(let failure): "refused: \(failure.message)"
    case .failed(let error): "failed: \(error.message)"
    }
}
