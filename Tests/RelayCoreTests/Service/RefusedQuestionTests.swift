import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayBus
@testable import RelayCore

/// What a service asks its bus, and what the bus has no room for at first.
@Suite("Questions that a bus refuses for a moment", .heavy, .tags(.g4)) struct RefusedQuestionTests {
    private func service(on bus: ProcessFDBus, _ notices: NoticeRecorder) async throws -> EventService {
        let service = try EventService(
            name: Desk.name, on: bus.bus, exporting: Plain1.self, onNotice: notices.record)
        try await service.start()
        return service
    }

    @Test("an error of the bus says nothing about its figures, if it had no time or no room for the question")
    func passing() {
        func isPassing(_ name: String) -> Bool {
            let remote = RemoteError(name: "org.freedesktop.DBus.Error.\(name)", message: "")
            return BusFigures.isPassing(ErrorNames.relayError(remote, calling: "GetStats"))
        }
        for name in ["LimitsExceeded", "NoMemory", "NoReply", "Timeout"] { #expect(isPassing(name), "\(name)") }
        for name in ["UnknownMethod", "UnknownInterface", "AccessDenied", "InvalidArgs", "Failed"] {
            #expect(!isPassing(name), "\(name)")
        }
    }
    @Test("G4: the bus is asked again what it holds for a peer, and for the service") func figures() async throws {
        let (bus, notices) = (try await ProcessFDBus(refusals: 3), NoticeRecorder())
        let service = try await service(on: bus, notices)
        let peer = try await BusStranger.join(bus.bus)
        let core = service.core
        let backlog = BusBacklog(peer.connection, core.notices, core.timing)
        // More than is not asked about.
        let name = peer.connection.uniqueName
        var most = 0
        for _ in 1...1_000 where most <= UnreadReplies.reserve {
            _ = try await peer.call(Desk.name, "/", "org.freedesktop.DBus.Introspectable", "Introspect")
            most = max(most, core.replies.unread.withLock { $0.unread(of: name) })
        }
        #expect(await eventually { core.replies.unread.withLock { $0.unread(of: name) } == 0 }, "the bus holds nothing")
        #expect(core.loop.withTurn { core.replies.state.onLoop.source } == .connection)
        #expect(backlog.source == .sender && notices.all(of: .unreadUnknown).isEmpty)
        try await service.stop()
    }
    @Test("the bus is asked again who it runs as; if it does not answer, that is reported", arguments: [2, 3])
    func user(refusals: Int) async throws {
        let (bus, notices) = (try await ProcessFDBus(refusals: refusals), NoticeRecorder())
        let service = try await service(on: bus, notices)
        let stream = try #require(service.core.interfaces.first).stream
        #expect(stream.isRestricted == (refusals == 3))
        #expect(
            await eventually { notices.all(of: .lookUpFailed).count == (refusals == 3 ? 1 : 0) }, "\(notices.all)")
        if let notice = notices.all(of: .lookUpFailed).first {
            #expect(notice.message.contains("LimitsExceeded") && notice.subject.interface == Plain1.name, "\(notice)")
        }
        try await service.stop()
    }
}
