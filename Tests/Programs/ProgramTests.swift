import Foundation
import OrderList
import RelayCore
import RelayTestKit
import TestTraits
import Testing

/// Programs of the examples on a bus and with a folder of their own. What runs here ends with this value.
private final class Stage {
    let bus: PrivateBus
    private let folder: TestFolder
    private var programs: [RunningProgram] = []

    init() throws { (bus, folder) = (try PrivateBus(), try TestFolder()) }

    private var environment: [String: String] {
        Programs.environment([
            "DBUS_SESSION_BUS_ADDRESS": bus.address, "DBUS_SYSTEM_BUS_ADDRESS": bus.address, "HOME": folder.path,
            "XDG_STATE_HOME": folder.path,
        ])
    }
    func state(_ name: String) -> String { "\(folder.path)/\(name)" }
    /// It writes a line at a time, though into a pipe.
    @discardableResult func start(_ program: String, _ arguments: String...) throws -> RunningProgram {
        let running = try RunningProgram(
            "stdbuf", ["-oL", "\(Programs.folder)/\(program)"] + arguments, environment: environment)
        programs.append(running)
        return running
    }
    func run(_ program: String, _ arguments: String...) async throws -> RunningProgram.Outcome {
        try await RunningProgram.run("\(Programs.folder)/\(program)", arguments, environment: environment)
    }
    func cli(_ arguments: String...) async throws -> RunningProgram.Outcome {
        try await RunningProgram.run(Programs.cli, ["--bus", bus.address] + arguments, environment: environment)
    }
    func kill(_ program: RunningProgram) async {
        program.signal(SIGKILL)
        #expect(await program.outcome().exit == .signal(SIGKILL))
    }
    func end(_ program: RunningProgram) async {
        program.signal(SIGTERM)
        let outcome = await program.outcome()
        #expect(outcome.exit == .code(0), "\(outcome)")
    }
}

@Suite("The examples' programs", .heavy) struct ProgramTests {
    @Test("percentiles prints those of each second, and both ends end as asked", .tags(.g3)) func percentiles()
        async throws
    {
        let stage = try Stage()
        let service = try stage.start("request-service")
        let front = try stage.start("percentiles")
        try await front.line(containing: "p99 ")
        await stage.end(front)
        await stage.end(service)
    }
    @Test("two sources: each order is settled once, though everybody is killed in turn", .tags(.g5, .g6))
    func twoSources() async throws {
        let stage = try Stage()
        func orders() throws -> RunningProgram { try stage.start("settlement-source", "orders", stage.state("orders")) }
        func payments() throws -> RunningProgram {
            try stage.start("settlement-source", "payments", stage.state("payments"))
        }
        func settling() throws -> RunningProgram { try stage.start("settlement-service", stage.state("settled")) }
        var running = [try orders(), try payments(), try settling()]
        /// By their orders, in the order of settling.
        func settled() async throws -> [Int] {
            let outcome = try await stage.cli(
                "--service", "org.example.Settlements", "--json", "history", "OrderSettled")
            return outcome.output.compactMap { line in
                let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                return (object?["fields"] as? [String: Any])?["orderID"] as? Int
            }
        }
        for (turn, start) in [settling, orders, settling, payments].enumerated() {
            #expect(try await eventually { try await settled().count > turn })
            let index = turn % 2 == 0 ? 2 : turn == 1 ? 0 : 1
            await stage.kill(running[index])
            running[index] = try start()
        }
        #expect(try await eventually { try await settled().count > 6 })
        let all = try await settled()
        #expect(all.sorted() == Array(1...all.count), "each order once, and none is left out: \(all)")
        for program in running { await stage.end(program) }
    }
    @Test("two versions: a sign of the first version shows what the second one's service does", .tags(.g2))
    func twoVersions() async throws {
        let stage = try Stage()
        let service = try stage.start("parking-service", stage.state("parking"))
        let sign = try stage.start("parking-sign")
        try await sign.line(containing: "60 free")
        #expect(try await stage.cli("call", "org.example.Parking2.ParkCar", "plate=M-RL-1").code == 0)
        try await sign.line(containing: "a car is at 101")
        try await sign.line(containing: "59 free")
        #expect(try await stage.cli("call", "org.example.Parking1.ParkCar").output == ["place=102"])
        #expect(try await stage.cli("call", "org.example.Parking2.CloseFloor", "floor=1").code == 0)
        try await sign.line(containing: "40 free")
        await stage.end(sign)
        await stage.end(service)
    }
    @Test("a guarded service: a command that polkit has to permit is refused without polkit, and others are not")
    func guarded() async throws {
        let stage = try Stage()
        let service = try stage.start("print-queue-service", stage.state("queue"))
        #expect(try await eventually { try await stage.run("print-queue", "add", "Invitation", "2").code == 0 })
        #expect(try await stage.run("print-queue", "list").output == ["#1 Invitation, 2 pages"])
        let watch = try stage.start("print-queue", "watch")
        let emptied = try await stage.run("print-queue", "empty")
        #expect(emptied.code == 69 && emptied.errors.contains { $0.contains("polkit did not answer") }, "\(emptied)")
        #expect(try await stage.run("print-queue", "add", "Encyclopedia", "9000").code == 1)
        #expect(try await stage.run("print-queue", "add").code == 64)
        #expect(try await stage.run("print-queue", "add", "Menu", "1").output == ["is job 2"])
        try await watch.line(containing: "added Menu")
        await stage.end(watch)
        await stage.end(service)
    }
    @Test("a list of 20,000 rows is in step with a service that changes it, and is again when that was killed")
    @MainActor func list() async throws {
        let stage = try Stage()
        let service = try stage.start("order-service", stage.state("orders"))
        let relay = try EventRelay(following: "org.example.OrderList", on: stage.bus.bus, interfaces: Orders1.self)
        var (rows, runs, whole): ([Order], [ListChange<Order>], Int) = ([], [], 0)
        let following = try relay.follow(Orders1.self, pages: ListOrders(), rows: \.orders, by: \.orderID) {
            event, rows in
            switch event {
            case .changed(let change): rows[id: change.order.orderID] = change.order
            case .removed(let order): rows[id: order.orderID] = nil
            }
        } show: { list in
            for change in list.changes {
                switch change {
                case .inserted(let new, let index): rows.insert(contentsOf: new, at: index)
                case .updated(let new, let index): rows.replaceSubrange(index..<index + new.count, with: new)
                case .removed(let old, let index): rows.removeSubrange(index..<index + old.count)
                }
            }
            runs = list.changes
            if Array(list.rows) == rows { whole += 1 }
        } onFailure: { error in
            Issue.record("\(error)")
        }
        relay.activate()
        #expect(await eventually { whole > 0 })
        #expect((19_990...20_010).contains(rows.count), "\(rows.count)")
        #expect(await eventually { whole > 20 })
        await stage.kill(service)
        let (last, before) = (rows.last?.orderID ?? 0, whole)
        let next = try stage.start("order-service", stage.state("orders"))
        #expect(await eventually { (rows.last?.orderID ?? 0) > last + 5 && whole > before })
        #expect(runs.count < 20, "differences, and not the list")
        following.cancel()
        relay.invalidate()
        await stage.end(next)
    }
}
