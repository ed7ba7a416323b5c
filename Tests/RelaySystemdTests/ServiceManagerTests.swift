import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
@testable import RelayJournal
@testable import RelaySystemd

/// A bus, and a stand-in for the manager's socket. What the manager says is in the environment, and SIGHUP is the process's: each test
/// is a process of its own, so that no other test, and no program that one starts, has either.
private struct ManagedSite {
    let bus: PrivateBus
    let socket: NotifySocket
    init() throws { (bus, socket) = (try PrivateBus(), try NotifySocket()) }

    func manager(watchdog: Duration? = nil) -> ServiceManager {
        setenv("NOTIFY_SOCKET", socket.path, 1)
        if let watchdog { setenv("WATCHDOG_USEC", "\(watchdog.components.attoseconds / 1_000_000_000_000)", 1) }
        return ServiceManager()
    }
    func service() throws -> EventService {
        let service = try EventService(name: "org.example.Managed", on: bus.bus, exporting: Managed1.self)
        service.handle(Work.self) { _, _ in }
        return service
    }
}

@Suite("A service under a service manager", .heavy, .tags(.g6)) struct ServiceManagerTests {
    @Test("without a manager nothing is sent, and it runs as ever") func absent() async {
        await #expect(processExitsWith: .success) {
            let site = try ManagedSite()
            let manager = ServiceManager()
            #expect(!manager.isPresent && manager.watchdogTimeout == nil)
            let service = try site.service()
            let isReady = Atomic<Bool>(false)
            let running = Task { try await service.run(under: manager) { isReady.store(true, ordering: .releasing) } }
            #expect(await eventually { isReady.load(ordering: .acquiring) })
            running.cancel()
            try await running.value
        }
    }
    @Test("it learns when the service is ready, reloads and stops; a status is one line") func life() async {
        await #expect(processExitsWith: .success) {
            let site = try ManagedSite()
            let manager = site.manager()
            let service = try site.service()
            let reloads = Atomic<Int>(0)
            let running = Task {
                try await service.run(
                    under: manager,
                    onReload: {
                        if reloads.wrappingAdd(1, ordering: .relaxed).newValue == 2 {
                            throw RelayError(.invalidArgument, "line 3\nis wrong")
                        }
                    })
            }
            #expect(await eventually { site.socket.count("READY=1") == 1 })
            #expect(site.socket.lines.contains("STATUS=serving org.example.Managed"))
            for round in 1...2 {
                kill(getpid(), SIGHUP)
                #expect(await eventually { site.socket.count("READY=1") == 1 + round })
            }
            #expect(site.socket.count("RELOADING=1") == 2 && site.socket.count("MONOTONIC_USEC=") == 2)
            #expect(
                site.socket.lines.contains("STATUS=serving org.example.Managed; the reload failed: line 3 is wrong"),
                "\(site.socket.lines)")
            running.cancel()
            try await running.value
            #expect(await eventually { site.socket.count("STOPPING=1") == 1 })
            #expect(
                site.socket.messages.last?.hasPrefix("STOPPING=1\nEXTEND_TIMEOUT_USEC=") == true,
                "\(site.socket.messages)")
        }
    }
    @Test("a hang-up that comes while the service starts reloads when it is ready, and not before") func earlyHangUp()
        async
    {
        await #expect(processExitsWith: .success) {
            let site = try ManagedSite()
            let manager = site.manager()
            let service = try site.service()
            let door = Door()
            door.close()
            service.core.loop.execute { door.pass() }
            let running = Task { try await service.run(under: manager) }
            // It would end this process before it is caught.
            #expect(
                await eventually {
                    var action = sigaction()
                    return sigaction(SIGHUP, nil, &action) == 0 && action.__sigaction_handler.sa_handler != nil
                })
            kill(getpid(), SIGHUP)
            // Time for what must not happen.
            try await Task.sleep(for: .milliseconds(200))
            #expect(site.socket.count("READY=1") == 0 && site.socket.count("RELOADING=1") == 0)
            door.open()
            #expect(await eventually { site.socket.count("READY=1") == 2 })
            #expect(site.socket.count("RELOADING=1") == 1)
            let said = site.socket.lines.filter { ["READY=1", "RELOADING=1"].contains($0) }
            #expect(said == ["READY=1", "RELOADING=1", "READY=1"])
            running.cancel()
            try await running.value
        }
    }
    @Test("a reload that is under way at the end is closed before that is reported, then cancelled and waited for")
    func reloadAtEnd() async {
        await #expect(processExitsWith: .success) {
            let site = try ManagedSite()
            let manager = site.manager()
            let service = try site.service()
            let (released, release) = AsyncStream.makeStream(of: Void.self)
            let begun = Atomic<Int>(0)
            let ended = Atomic<Bool>(false)
            let running = Task {
                try await service.run(
                    under: manager,
                    onReload: {
                        begun.wrappingAdd(1, ordering: .relaxed)
                        while !Task.isCancelled { try? await Task.sleep(for: .milliseconds(1)) }
                        // It takes its time all the same.
                        await Task.detached { for await _ in released {} }.value
                        ended.store(true, ordering: .releasing)
                        throw RelayError(.invalidArgument, "line 3 is wrong")
                    })
            }
            #expect(await eventually { site.socket.count("READY=1") == 1 })
            kill(getpid(), SIGHUP)
            #expect(await eventually { begun.load(ordering: .relaxed) == 1 })
            running.cancel()
            #expect(await eventually { site.socket.count("STOPPING=1") == 1 })
            // Another one, which comes too late.
            kill(getpid(), SIGHUP)
            Task.detached { release.finish() }
            try await running.value
            let isOver = ended.load(ordering: .acquiring)
            #expect(isOver && begun.load(ordering: .relaxed) == 1)
            let said = try await site.socket.settledLines()
            #expect(
                said.filter { ["READY=1", "RELOADING=1", "STOPPING=1"].contains($0) }
                    == ["READY=1", "RELOADING=1", "READY=1", "STOPPING=1"])
            #expect(!said.contains { $0.contains("line 3") }, "\(said)")
        }
    }
    @Test("a reload that ends or begins behind the service's end is not reported") func lateReload() {
        let line = StatusLine("serving")
        let sent = Log<String>()
        #expect(!line.beginReload { sent.add("reloading, before the start") })
        line.begin { sent.add($0) }
        #expect(line.beginReload { sent.add("reloading") })
        line.endReload("line 3") { sent.add($0) }
        #expect(line.beginReload { sent.add("reloading") })
        line.end { sent.add("closed") }
        line.endReload(nil) { sent.add($0) }
        #expect(!line.beginReload { sent.add("reloading, behind the end") })
        line.end { sent.add("closed twice") }
        #expect(sent.values == ["serving", "reloading", "serving; line 3", "reloading", "closed"])
    }
    @Test("a patience without an end, and a wait without one, end no process", .tags(.g8)) func endlessPatience() async
    {
        await #expect(processExitsWith: .success) {
            let site = try ManagedSite()
            let manager = site.manager()
            let service = try site.service()
            let running = Task {
                try await service.run(
                    under: manager, patience: .seconds(Int64.max),
                    alongside: { try await Task.sleep(for: .seconds(86_400)) })
            }
            #expect(await eventually { site.socket.count("READY=1") == 1 })
            let relay = try EventRelay(following: "org.example.Managed", on: site.bus.bus, interfaces: Managed1.self)
            relay.activate()
            try await relay.ready(within: .seconds(Int64.max))
            _ = try await relay.call(Work(), timeout: .seconds(Int64.max))
            running.cancel()
            try await running.value
            #expect(await eventually { site.socket.count("EXTEND_TIMEOUT_USEC=\(Int64.max)") == 1 })
        }
    }
    @Test("it learns of an idle end before the name is free") func idle() async {
        await #expect(processExitsWith: .success) {
            let site = try ManagedSite()
            let manager = site.manager()
            let service = try site.service()
            let running = Task { try await service.run(under: manager, idleExit: .zero) }
            #expect(await eventually { site.socket.count("READY=1") == 1 })
            let relay = try EventRelay(following: "org.example.Managed", on: site.bus.bus, interfaces: Managed1.self)
            relay.activate()
            _ = try await relay.call(Work())
            try await running.value
            #expect(await eventually { site.socket.count("STOPPING=1") == 1 })
        }
    }
    @Test("a time that no manager can read is the longest one that it can", .tags(.g8)) func longTimes() {
        #expect(ServiceManager.microseconds(.seconds(70) + .nanoseconds(1_999)) == 70_000_001)
        let last = Duration.microseconds(Int64.max)
        #expect(ServiceManager.microseconds(last) == .max)
        #expect(ServiceManager.microseconds(last + .microseconds(1)) == .max)
        #expect(ServiceManager.microseconds(.seconds(Int64.max)) == .max)
        #expect(ServiceManager.microseconds(.seconds(Int64.max) * 2 + .seconds(75)) == .max)
    }
    @Test("a start that fails is in the status, and one that takes long is given more time") func failure() async {
        await #expect(processExitsWith: .success) {
            let site = try ManagedSite()
            let manager = site.manager()
            let first = try site.service()
            try await first.start()
            let second = try site.service()
            await #expect { try await second.run(under: manager) } throws: { .conflict ~= $0 }
            #expect(
                await eventually {
                    site.socket.lines.contains { $0.hasPrefix("STATUS=org.example.Managed has an owner") }
                })
            #expect(site.socket.count("EXTEND_TIMEOUT_USEC=30000000") == 1 && site.socket.count("READY=1") == 0)
            try await first.stop()
        }
    }
    @Test("a disk that refuses commits is in the status for as long as it does, without a watchdog, too")
    func storage() async {
        await #expect(processExitsWith: .success) {
            let site = try ManagedSite()
            let manager = site.manager()
            let (folder, disk) = (try TestFolder(), try FaultDisk())
            let journal = try EventJournal(directory: folder.path, faults: disk.faults, vfs: disk.name)
            let service = try EventService(
                name: "org.example.Managed", on: site.bus.bus, exporting: Kept1.self, journal: journal)
            let running = Task { try await service.run(under: manager) }
            #expect(await eventually { site.socket.count("READY=1") == 1 })
            func statuses() -> [String] { site.socket.lines.filter { $0.hasPrefix("STATUS=") } }
            disk.fail(.write, with: .writing(EROFS), count: nil)
            for _ in 0..<3 { await #expect(throws: RelayError.self) { try await service.publish(Kept(number: 1)) } }
            let serving = "STATUS=serving org.example.Managed"
            let refused =
                "\(serving); commits are refused: the file system of \(folder.path)/journal.sqlite is read-only"
            #expect(await eventually { statuses() == [serving, refused] }, "\(statuses())")
            disk.heal(.write)
            #expect(await eventually { statuses() == [serving, refused, serving] }, "\(statuses())")
            try await service.publish(Kept(number: 2))
            running.cancel()
            try await running.value
            journal.close()
        }
    }
    @Test("the watchdog is fed while a commit hangs, which is reported; and not while the loop hangs")
    func watchdog() async {
        await #expect(processExitsWith: .success) {
            let site = try ManagedSite()
            let manager = site.manager(watchdog: .milliseconds(150))
            #expect(manager.watchdogTimeout == .milliseconds(150))
            let (folder, notices) = (try TestFolder(), NoticeRecorder())
            let door = Door()
            let journal = try EventJournal(
                directory: folder.path, synchronous: .normal,
                faults: JournalFaults(at: { step in if step == .beforeCommit { door.pass() } }))
            let service = try EventService(
                name: "org.example.Managed", on: site.bus.bus, exporting: Kept1.self, journal: journal,
                onNotice: notices.record)
            let running = Task { try await service.run(under: manager) }
            #expect(await eventually { site.socket.count("READY=1") == 1 })
            door.close()
            let publishing = Task { try await service.publish(Kept(number: 1)) }
            #expect(await eventually { door.isWaited })
            let before = site.socket.count("WATCHDOG=1")
            let late = "STATUS=serving org.example.Managed; one commit has waited for the disk for "
            #expect(await eventually { site.socket.lines.contains { $0.hasPrefix(late) } })
            #expect(await eventually { site.socket.count("WATCHDOG=1") > before + 20 })
            #expect(await eventually { notices.all(of: .commitDelayed).count == 1 })
            door.open()
            try await publishing.value
            #expect(
                await eventually {
                    site.socket.lines.last { $0.hasPrefix("STATUS=") } == "STATUS=serving org.example.Managed"
                })

            let block = Door()
            block.close()
            service.core.loop.execute { block.pass() }
            #expect(await eventually { block.isWaited })
            // The socket keeps the order: with this, all that was sent before has come.
            manager.status("the loop hangs")
            #expect(await eventually { site.socket.lines.contains("STATUS=the loop hangs") })
            let count = site.socket.count("WATCHDOG=1")
            // Not a wait for something: this is what is measured.
            try await Task.sleep(for: .seconds(1))
            #expect(site.socket.count("WATCHDOG=1") == count)
            block.open()
            #expect(await eventually { site.socket.count("WATCHDOG=1") > count })
            running.cancel()
            try await running.value
            journal.close()
        }
    }
}

enum Managed1: EventInterface {
    static let name = "org.example.Managed1"
    static let durability = Volatile()
    static var contract: Contract<Self> { Work.self }
}
struct Work: Command {
    typealias Interface = Managed1
}
enum Kept1: EventInterface {
    static let name = "org.example.Kept1"
    static var contract: Contract<Self> { Kept.self }
}
struct Kept: DomainEvent {
    typealias Interface = Kept1
    var number: Int64
}

/// What a thread waits at while it is closed.
private final class Door: Sendable {
    private let state = Mutex((isClosed: false, isWaited: false))
    var isWaited: Bool { state.withLock { $0.isWaited } }
    func close() { state.withLock { $0.isClosed = true } }
    func open() { state.withLock { $0.isClosed = false } }
    func pass() {
        while state.withLock({ state in
            if state.isClosed { state.isWaited = true }
            return state.isClosed
        }) { usleep(1_000) }
    }
}
