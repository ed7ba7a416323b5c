import Glibc
import RelayCore
import RelayTestKit
import TestSupport

/// A typed subscriber to the ledger as a process: shows a line for each event and gap, as `relay-cli --json` does.
///
/// `--bus ADDRESS [--from now|beginning|NAME --cursors DIR] [--every N] [--fault STEP --when FILE]`: with `--every`, only each Nth
/// event has a line; all are checked to come in order.
@main struct FaultyWatcher {
    static func main() async throws {
        let options = ProgramOptions(CommandLine.arguments)
        let every = options["every"].flatMap { UInt64($0) } ?? 1
        let start: StreamPosition =
            switch options["from"] ?? "now" {
            case "now": .now
            case "beginning": .beginning
            case let name: .resuming(name)
            }
        // Not used unless it resumes.
        let cursors = options["cursors"] ?? "/nonexistent"
        let relay = try EventRelay(
            following: Ledger1.service, on: .address(options.required("bus")), interfaces: Ledger1.self,
            cursors: cursors, faults: try faults(options))
        let stream = try relay.events(in: Ledger1.self, from: start)
        relay.activate()
        var last: UInt64?
        for await delivery in stream {
            switch delivery {
            case .event(let event, let stamp):
                if let last, stamp.sequence != last + 1 { fatalError("#\(stamp.sequence) after #\(last)") }
                last = stamp.sequence
                if stamp.sequence % every == 0 { show(event, stamp) }
            case .gap(let gap):
                last = nil
                let upper = gap.sequences.upperBound == .max ? "null" : "\(gap.sequences.upperBound)"
                line(
                    #"{"gap":{"interface":"\#(Ledger1.name)","first":\#(gap.sequences.lowerBound),"last":\#(upper)},"#
                        + #""more":{"reason":"\#(gap.reason.rawValue)"}}"#)
            }
        }
    }
    private static func faults(_ options: ProgramOptions) throws -> CursorFaults {
        guard let step = options["fault"] else { return .none }
        return try CrashPoint(at: step, when: options.required("when")).cursor
    }
    private static func show(_ event: any StreamEntry, _ stamp: Stamp) {
        let number =
            switch event {
            case let entry as Ledger1.Entry: entry.number
            case let mark as Ledger1.Marked: mark.number
            default: Int64(-1)
            }
        line(
            #"{"event":"\#(type(of: event).name)","epoch":"\#(stamp.epoch)","sequence":\#(stamp.sequence),"#
                + #""fields":{"number":\#(number)}}"#)
    }
    private static func line(_ text: String) {
        var line = text + "\n"
        line.withUTF8 { _ = write(1, $0.baseAddress, $0.count) }
    }
}
