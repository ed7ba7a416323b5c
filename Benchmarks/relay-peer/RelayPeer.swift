import Dispatch
import PeerSupport
import RelayCore

/// A sender and a receiver of typed events, a service and its caller, through the public API alone.
@main
enum RelayPeer {
    static func main() async {
        do { if try await Blocking.run(Array(CommandLine.arguments.dropFirst())) { return } } catch {
            peer_fail("relay-peer", "\(error)")
        }
        let options = peer_parse(CommandLine.argc, CommandLine.unsafeArgv)
        let bus = Bus.address(String(cString: options.bus))
        do {
            switch options.role {
            case PEER_SEND: try await send(options, on: bus)
            case PEER_RECEIVE: try await receive(options, on: bus)
            case PEER_ANSWER: try await Answering.run(options, on: bus)
            default: try await Calling.run(options, on: bus)
            }
        } catch {
            peer_fail("relay-peer", "\(error)")
        }
    }

    private static func send(_ options: peer_options, on bus: Bus) async throws {
        let service = try EventService(name: PEER_SERVICE, on: bus, exporting: Bench1.self)
        let running = Task { try await service.run() }
        let (count, rate) = (options.count, options.rate)
        // A thread of its own: it blocks, which the pool's few threads must not.
        let start = try await withCheckedThrowingContinuation { done in
            DispatchQueue.global().async {
                done.resume(with: Result { try publish(count, at: rate, on: service) })
            }
        }
        running.cancel()
        try await running.value
        // Now that everything has been written: as with the C peers, that is part of the sender's work.
        peer_report_sent(count, start)
    }

    private static func publish(_ count: UInt64, at rate: UInt64, on service: EventService) throws -> UInt64 {
        // The receiver is ready only when the service has its name, and the line on stdin comes after that.
        peer_ready()
        peer_wait_for_go()
        let text = PEER_TEXT
        let start = peer_now()
        for number in 1...count {
            peer_pace(start, number, rate)
            try service.publish(
                Ticked(number: number, sentAt: peer_now(), text: text, a: Int64(bitPattern: 0 &- number)))
        }
        return start
    }

    private static func receive(_ options: peer_options, on bus: Bus) async throws {
        let relay = try EventRelay(following: PEER_SERVICE, on: bus, interfaces: Bench1.self)
        peer_expect(options.count)
        let subscription = relay.publisher.subscribe(to: Ticked.self, delivery: .immediate) { event in
            if event.text.utf8.count != 24 || event.a != Int64(bitPattern: 0 &- event.number) {
                peer_fail("event", "its fields are not what was sent")
            }
            peer_record(event.number, event.sentAt)
        } onGap: { _ in
        }
        relay.activate()
        for await state in relay.states {
            if case .active = state { break }
            if case .invalidated(let error) = state { throw error }
        }
        peer_ready()
        var waited = options
        // As often as the C peers look.
        while !peer_is_done(&waited) { try await Task.sleep(for: .milliseconds(100)) }
        subscription.cancel()
        peer_report_received()
    }
}
