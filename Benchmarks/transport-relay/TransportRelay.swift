import CTransportSupport
import RelayCore

/// Ours from end to end, by the public API alone: `EventService.publish` to a handler behind an `EventRelay`.
///
/// The channel is `SERVICE@BUS`. Variants: `ring` (by default: sparse events are signals, too), `quiet` (above the signal budget),
/// `signal` (an interface without a ring), each with `-coded` for a Codable event instead of a fixed layout.
@main enum TransportRelay {
    static func main() {
        let run = UnsafeMutablePointer<transport_run>.allocate(capacity: 1)  // One for the process: never given back.
        run.initialize(to: transport_begin(CommandLine.argc, CommandLine.unsafeArgv))
        let variant = String(cString: run.pointee.options.variant)
        do {
            switch variant {
            case "ring", "ring-coded": try end(Streams1.self, run, variant)
            case "quiet", "quiet-coded": try end(Quiet1.self, run, variant)
            case "signal", "signal-coded": try end(Signals1.self, run, variant)
            default: transport_fail("variant", variant)
            }
        } catch {
            transport_fail("transport-relay", "\(error)")
        }
    }
    private static func end<I: EventInterface>(
        _ interface: I.Type, _ run: UnsafeMutablePointer<transport_run>, _ variant: String
    ) throws where I.Durability == Volatile {
        switch (variant.hasSuffix("-coded"), run.pointee.options.size) {
        case (true, 64): try end(Reading<I>.self, run, variant)
        case (true, 4_096): try end(Block<I>.self, run, variant)
        case (false, 64): try end(Fixed64<I>.self, run, variant)
        case (false, 256): try end(FixedWords<I, 32>.self, run, variant)
        case (false, 1_024): try end(FixedWords<I, 128>.self, run, variant)
        case (false, 4_096): try end(FixedWords<I, 512>.self, run, variant)
        default: transport_fail("size", "\(run.pointee.options.size)")
        }
    }
    private static func end<E: MeasuredEvent>(
        _ type: E.Type, _ run: UnsafeMutablePointer<transport_run>, _ variant: String
    ) throws {
        let channel = String(cString: run.pointee.options.channel).split(separator: "@", maxSplits: 1).map(String.init)
        guard channel.count == 2 else { transport_fail("channel", "not SERVICE@BUS") }
        if run.pointee.options.sends {
            try ServiceSender<E>(run, service: channel[0], bus: channel[1]).sendAll()
        } else {
            try RelayReceiver<E>(run, service: channel[0], bus: channel[1]).receiveAll()
        }
    }
}
