import Glibc
import RelayCore
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import print_helper
/// docs/XPC_MIGRATION.md: its code is what stands here. The title of a test is the heading of its section.
@Suite("Coming from XPC", .heavy) struct XPCMigrationTests {
    private let daemon: PrivateBus
    private let screen = Screen()
    private var bus: Bus { daemon.bus }
    init() throws { daemon = try PrivateBus() }

    private func startService() async throws -> EventService {
        let service = try makeService(on: bus)
        try await service.start()
        return service
    }
    private func makeRelay() throws -> EventRelay {
        let relay = try EventRelay(following: "org.example.Printer", on: bus, interfaces: Printing1.self)
        relay.activate()
        return relay
    }

    @Test("NSXPCInterface") func interface() async throws {
        let service = try await startService()
        // The contract, as any tool sees it.
        let outcome = try await RunningProgram.run(
            "busctl",
            [
                "--address=\(daemon.address)", "introspect", "org.example.Printer", "/org/example/Printing1",
                "org.example.Printing1",
            ], environment: Programs.environment())
        let members = outcome.output.map { $0.split(separator: " ").joined(separator: " ") }
        for member in [
            ".PrintJob method si x -", ".PreviewJob method sh - -", ".JobPrinted signal xsttt - -",
        ] {
            #expect(members.contains(member), "\(outcome)")
        }
        #expect(members.contains { $0.hasPrefix(".PrinterState property (xas)") }, "\(outcome)")
        try await service.stop()
    }

    @Test("NSXPCListener and XPCListener") func listener() async throws {
        let service = try await startService()
        // Another process has the name: as with launchd, there is one listener.
        await #expect(throws: RelayError.self) { try await makeService(on: bus).start() }
        #expect(try await makeRelay().call(PrintJob(title: "Invitation", pages: 2)).jobID == 1)
        try await service.stop()
    }

    @Test("NSXPCConnection and XPCSession") func connection() async throws {
        let service = try await startService()

        let relay = try EventRelay(following: "org.example.Printer", on: bus, interfaces: Printing1.self)
        relay.activate()
        let reply = try await relay.call(PrintJob(title: "Invitation", pages: 2))
        screen.show("is job \(reply.jobID)")

        #expect(screen.lines == ["is job 1"])
        try await service.stop()
    }

    @Test("remoteObjectProxyWithErrorHandler") func errors() async throws {
        let service = try await startService()
        let relay = try makeRelay()
        func show(_ job: PrintJob) async {
            switch await relay.outcome(of: job, timeout: .seconds(60)) {
            case .success(let reply): screen.show("is job \(reply.jobID)")
            case .refused(.tooLong): screen.show("too long")
            case .failed(let error) where error.mayHaveRun: screen.show("perhaps printed: \(error.message)")
            case .failed(let error): screen.show("not printed: \(error.message)")
            }
        }
        await show(PrintJob(title: "Invitation", pages: 2))
        await show(PrintJob(title: "Encyclopedia", pages: 9_000))
        try await service.stop()
        await show(PrintJob(title: "Invitation", pages: 2))
        #expect(screen.lines.dropLast() == ["is job 1", "too long"])
        #expect(screen.lines.last?.hasPrefix("not printed: ") == true, "\(screen.lines)")
    }

    @Test("An exported object at the client") func wayBack() async throws {
        let service = try await startService()
        let relay = try EventRelay(following: "org.example.Printer", on: bus, interfaces: Printing1.self)

        let printed = relay.publisher.subscribe(to: JobPrinted.self) { job in
            screen.show("printed \(job.title)")
        } onGap: { gap in
            screen.show("\(gap)")  // What is missing and why, as a sentence.
        }

        relay.activate()
        try await relay.ready(within: .seconds(300))
        // Any client's job is reported to all.
        _ = try await makeRelay().call(PrintJob(title: "Invitation", pages: 2))
        #expect(await eventually { screen.lines == ["printed Invitation"] })
        printed.cancel()
        try await service.stop()
    }

    @Test("NSProgress over XPC") func progress() async throws {
        let service = try await startService()
        let relay = try makeRelay()

        let printing = relay.start(PrintJob(title: "Programme", pages: 12))
        for await progress in printing.progress { screen.show("page \(progress.page)") }
        let reply = try await printing.outcome.get()

        #expect(reply.jobID == 1)
        // A reader that falls behind misses pages, never the last one.
        let pages = screen.lines.compactMap { Int($0.dropFirst(5)) }
        #expect(pages == pages.sorted() && pages.last == 12, "\(pages)")
        try await service.stop()
    }

    @Test("Interruption and invalidation handlers") func states() async throws {
        let service = try await startService()
        let relay = try EventRelay(following: "org.example.Printer", on: bus, interfaces: Printing1.self)

        let states = relay.publisher.subscribe(to: EventRelay.State.self) { state in
            switch state {
            case .connecting: break
            case .active: screen.show("in step")
            case .interrupted: screen.show("the service or the bus is away; the relay comes back by itself")
            case .invalidated(let error): screen.show("for good: \(error.code.rawValue)")
            }
        } onGap: { _ in
        }

        relay.activate()
        #expect(await eventually { screen.lines == ["in step"] })
        try await service.stop()
        #expect(await eventually { screen.lines.last?.hasSuffix("by itself") == true })
        let next = try await startService()
        #expect(await eventually { screen.lines.count == 3 && screen.lines.last == "in step" })
        let wary = try EventRelay(
            following: "org.example.Printer", on: bus, interfaces: Printing1.self, requiring: .user("nobody"))
        let refusals = wary.publisher.subscribe(to: EventRelay.State.self) { state in
            if case .invalidated(let error) = state { screen.show("for good: \(error.code.rawValue)") }
        } onGap: { _ in
        }
        wary.activate()
        #expect(await eventually { screen.lines.last == "for good: NotPermitted" })
        refusals.cancel()
        states.cancel()
        try await next.stop()
    }

    @Test("setCodeSigningRequirement and XPCPeerRequirement") func requirement() async throws {
        let harness = TestHarness()
        let bus = harness.bus
        let service = try EventService(name: "org.example.Printer", on: bus, exporting: Maintenance1.self)
        service.handle(CleanHeads.self) { _, _ in }
        try await harness.start(service)

        let relay = try EventRelay(
            following: "org.example.Printer", on: bus, interfaces: Maintenance1.self, requiring: .sameUser)

        relay.activate()
        try await relay.call(CleanHeads())
        let group = try #require(getgrnam("lp")).pointee.gr_gid
        func call(_ groups: [UInt32]) async throws {
            let other = try EventRelay(
                following: "org.example.Printer", on: harness.bus(user: getuid() + 1, groups: groups),
                interfaces: Maintenance1.self)
            other.activate()
            try await other.call(CleanHeads())
        }
        try await call([group])
        do {
            try await call([])
            Issue.record("was permitted")
        } catch .notPermitted {}
    }

    @Test("xpc_transaction_begin") func transaction() async throws {
        let service = try EventService(name: "org.example.Printer", on: bus, exporting: Printing1.self)
        let (paper, isThere) = AsyncStream.makeStream(of: Void.self)
        @Sendable func deliver(_ job: PrintJob) async {
            for await _ in paper {}
            screen.show("delivered \(job.title)")
        }
        service.handle(PreviewJob.self) { _, _ in }

        service.handle(PrintJob.self) { job, _ in
            // The reply goes out at once. What it promises keeps the service alive.
            let activity = service.beginActivity()
            Task {
                await deliver(job)
                activity.end()
            }
            return PrintJob.Reply(jobID: 1)
        }

        let running = Task { try await service.run(idleExit: .zero) }
        let relay = try makeRelay()
        try await relay.ready(within: .seconds(300))
        // Were it not for the activity, the service would end behind the first call.
        for _ in 1...3 { _ = try await relay.call(PrintJob(title: "Invitation", pages: 2)) }
        #expect(screen.lines.isEmpty)
        isThere.finish()
        try await running.value
        #expect(screen.lines == Array(repeating: "delivered Invitation", count: 3))
    }

    @Test("launchd's on-demand start") func onDemand() async throws {
        let (services, page) = (try TestFolder(), try MigrationPage())
        let file = try #require(page.blocks.first { $0.language == "ini" }).text
        #expect(file.contains("Exec=/usr/libexec/print-helper\n"))
        try services.write(
            file.split(separator: "/usr/libexec", omittingEmptySubsequences: false).joined(separator: Programs.folder),
            to: "org.example.Printer.service")
        let daemon = try PrivateBus(limits: .session, policy: "<servicedir>\(services.path)</servicedir>")
        let bus = daemon.bus

        let relay = try EventRelay(following: "org.example.Printer", on: bus, interfaces: Printing1.self)
        relay.activate()
        let reply = try await relay.call(PrintJob(title: "Invitation", pages: 2))  // Starts the service.

        #expect(reply.jobID == 1)
        relay.invalidate()
        // Ends what the bus has started: this process, by its id.
        let owner = try await RunningProgram.run(
            "busctl",
            [
                "--address=\(daemon.address)", "call", "org.freedesktop.DBus", "/org/freedesktop/DBus",
                "org.freedesktop.DBus", "GetConnectionUnixProcessID", "s", "org.example.Printer",
            ], environment: Programs.environment())
        let process = try #require(owner.output.first.flatMap { Int32($0.dropFirst(2)) }, "\(owner)")
        kill(process, SIGTERM)
        #expect(await eventually { kill(process, 0) != 0 })
        await daemon.stop()
    }

    @Test("Key-value observing of the other side's state") func document() async throws {
        let service = try await startService()
        let relay = try makeRelay()

        let state = LocalDocument(PrinterState.initial)
        state.addView(key: "count") { screen.show("\($0.jobs) jobs, \($0.lastTitle ?? "none") last") }
        let following = try relay.follow(PrinterState.self, into: state) { screen.show($0.message) }

        _ = try await relay.call(PrintJob(title: "Invitation", pages: 2))
        #expect(await eventually { screen.lines == ["0 jobs, none last", "1 jobs, Invitation last"] })
        following.cancel()
        try await service.stop()
    }

    @Test("NotificationCenter") func notifications() async throws {
        let publisher = EventPublisher(delivery: .immediate)
        let opened = publisher.subscribe(to: WindowOpened.self) { event in
            screen.show("opened \(event.title)")
        } onGap: { _ in
        }
        publisher.publish(WindowOpened(title: "Jobs"))

        #expect(screen.lines == ["opened Jobs"])
        opened.cancel()
    }

    @Test("NSXPCListenerEndpoint") func endpoint() async throws {
        let service = try await startService()
        let relay = try makeRelay()

        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw SystemError(errno)
        }
        let own = OwnedDescriptor(ends[0])
        let other = TransferredDescriptor(OwnedDescriptor(ends[1]))
        try await relay.call(PreviewJob(title: "Invitation", channel: other))

        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(own.number, &bytes, bytes.count)
        #expect(String(decoding: bytes.prefix(max(0, count)), as: UTF8.self) == "preview of Invitation")
        // The other end was given away, and is closed.
        #expect(read(own.number, &bytes, bytes.count) == 0)
        try await service.stop()
    }
}

enum Maintenance1: EventInterface {
    static let name = "org.example.Maintenance1"
    static let durability = Volatile()
    // Who may call and subscribe. Without it: the user that the service runs as.
    static let requirement = PeerRequirement.sameUser || .group("lp")
    static var contract: Contract<Self> { CleanHeads.self }
}
struct CleanHeads: Command {
    typealias Interface = Maintenance1
}

struct WindowOpened: Event {
    let title: String
}
