import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayBus
@testable import RelayCore

@Suite("What keeps a relay from the bus is reported", .heavy, .tags(.g8)) struct ConnectionFailureTests {
    private final class Failures: Sendable {
        let messages = Mutex<[String]>([])
        let subscription = Mutex<Subscription?>(nil)
        init(of relay: EventRelay) {
            let subscription = relay.publisher.subscribe(
                to: EventRelay.ConnectionFailure.self, delivery: .immediate
            ) { [weak self] failure in
                self?.messages.withLock { $0.append(failure.error.message) }
            } onGap: { _ in
            }
            self.subscription.withLock { $0 = subscription }
        }
    }

    @Test("a bus that is not there is reported once for each outage, though the relay goes on trying")
    func outage() async throws {
        let folder = try TestFolder()
        let relay = try EventRelay(
            following: Desk.name, on: .address("unix:path=\(folder.path)/bus"), interfaces: Plain1.self)
        let failures = Failures(of: relay)
        relay.activate()
        #expect(await eventually { failures.messages.withLock { !$0.isEmpty } })
        // A call ends at each attempt that fails: there were more.
        for _ in 1...3 {
            do { try await relay.barrier(timeout: .seconds(300)) } catch {
                #expect((error as? RelayError)?.code == .unavailable)
            }
        }
        #expect(failures.messages.withLock { $0.count } == 1)
        #expect(failures.messages.withLock { $0.first?.contains("\(folder.path)/bus") } == true)
        relay.invalidate()
    }
    @Test("a relay ends at once while a bus does not accept it") func unaccepted() async throws {
        let socket = try FullSocket()
        let relay = try EventRelay(following: Desk.name, on: socket.bus, interfaces: Plain1.self)
        relay.activate()
        let core = relay.follower.core
        #expect(await eventually { !core.loop.dials.isEmpty })
        await withCheckedContinuation { over in core.invalidate { over.resume() } }
        #expect(!core.loop.dials.isEmpty, "the thread that waits for the bus is another one")
    }
    @Test("descriptors that cannot be had are named with what to do; those that can are given back")
    func descriptors() {
        #expect(SpareDescriptors.failure(for: 3) == nil && SpareDescriptors.error(for: 3, "the ring of a.b") == nil)
        #expect(
            SystemError(EMFILE).remedy
                == "; close others, or raise this process's limit: ulimit -n, or LimitNOFILE= in the unit")
        #expect(SystemError(ENFILE).remedy.contains("file-max") && SystemError(ENOENT).remedy.isEmpty)
        let error = CursorFile.failure("a", "it cannot be opened", EMFILE)
        #expect(error.message.hasSuffix(SystemError(EMFILE).remedy))
    }
}
