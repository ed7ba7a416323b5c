import Fleet
import FleetViews
import RelayCore
import RelayTestKit
import Shop
import ShopViews
import Synchronization
import Testing

/// Two hosts: a bus and a state each, and a carrier of files between them. What runs here ends with this value.
private final class TwoHosts {
    private let kitchen: PrivateBus
    let office: PrivateBus
    private let folder: TestFolder
    private var programs: [RunningProgram] = []

    init() throws {
        (kitchen, office, folder) = (try PrivateBus(), try PrivateBus(), try TestFolder())
    }
    func start(_ program: String, _ arguments: String...) throws {
        programs.append(
            try RunningProgram(
                "\(Programs.folder)/\(program)", arguments,
                environment: Programs.environment([
                    "DBUS_SESSION_BUS_ADDRESS": kitchen.address, "FLEET_STATE": "\(folder.path)/fleet",
                ])))
    }
    /// The kitchen's service `name` is on the office's bus, too, once it is mirrored.
    func mirror(_ name: String, exporting: Bool = true) async throws {
        if exporting { try await export(name) }
        try bridge(office, ["--mirror", "kitchen/\(name)", "--state-directory", "\(folder.path)/office"])
        try await hears("ready: ")
    }
    func export(_ name: String) async throws { try bridge(kitchen, ["--export", name, "--host", "kitchen"]) }
    private func bridge(_ bus: PrivateBus, _ task: [String]) throws {
        programs.append(
            try RunningProgram(Programs.bridge, ["--bus", bus.address, "--carrier", "\(folder.path)/carrier"] + task))
    }
    /// The last one that was started has said so.
    func hears(_ text: String) async throws { try await programs[programs.count - 1].line(containing: text) }
    /// What relay-cli says at a host.
    func cli(ofOffice: Bool, _ arguments: [String]) async throws -> String {
        let outcome = try await RunningProgram.run(
            Programs.cli, ["--bus", ofOffice ? office.address : kitchen.address] + arguments,
            environment: Programs.environment())
        return (outcome.output + outcome.errors).joined(separator: "\n")
    }
    var state: String { "\(folder.path)/shop" }
    func relayToKitchen(_ interfaces: any EventInterface.Type) throws -> EventRelay {
        try EventRelay(following: "org.example.Shop", on: kitchen.bus, interfaces: interfaces)
    }
}

/// What the examples' windows show of another host's services, with one argument changed.
@Suite("The examples on another host", .serialized) struct MirroredExamplesTests {
    @Test("the shop's windows show what happens at the shop, and a board opened late has all orders") @MainActor
    func shop() async throws {
        let hosts = try TwoHosts()
        try hosts.start("shop-service", hosts.state)
        let shop = try hosts.relayToKitchen(Orders1.self)
        shop.activate()
        try await shop.ready(within: .seconds(300))
        let tea = try await shop.call(PlaceOrder(article: "Tea", count: 2)).orderID
        try await hosts.mirror("org.example.Shop")

        let relay = try EventRelay(
            following: "org.example.Shop", at: "kitchen", on: hosts.office.bus, interfaces: Orders1.self,
            Climate1.self)
        let (board, history) = (OrderBoard(), OrderHistory())
        try board.follow(relay)
        try history.follow(relay, from: .beginning)
        relay.activate()
        #expect(await eventually { board.orders[tea]?.article == "Tea" })
        let cup = try await shop.call(PlaceOrder(article: "Cup", count: 1)).orderID
        try await shop.call(ShipOrder(orderID: tea))
        #expect(await eventually { board.orders[cup] != nil && board.orders[tea]?.isShipped == true })
        #expect(
            await eventually {
                history.lines == ["#\(tea) placed: 2 × Tea", "#\(cup) placed: 1 × Cup", "#\(tea) shipped"]
            }, "\(history.lines)")
        #expect(board.isFilled && board.trouble == nil)
        // Whoever wants to change something has to ask the shop.
        guard case .failed(let error) = await relay.outcome(of: ShipOrder(orderID: cup)) else {
            Issue.record("a mirror has shipped something")
            return
        }
        #expect(error.code == .readOnly && error.message.contains("kitchen"), "\(error)")
        relay.invalidate()
        shop.invalidate()
    }
    @Test("the fleet's log is the same on both hosts") func fleet() async throws {
        let hosts = try TwoHosts()
        let units = FleetUnit.all(2)
        for unit in units {
            try hosts.start("fleet-unit", "\(unit.index)", "100")
            try await hosts.mirror(unit.service)
        }
        let lines = Mutex<Set<String>>([])
        let log = try FleetLog(units, at: "kitchen", on: hosts.office.bus) { line in
            lines.withLock { _ = $0.insert(line) }
        }
        #expect(await eventually { lines.withLock { $0 } == ["Unit 0 has started.", "Unit 1 has started."] })
        log.end()
    }
    @Test("a bridge says on the bus how its exports and mirrors are, and in the log what they wait for")
    func bridgeStatus() async throws {
        let hosts = try TwoHosts()
        // Of a service that is not there yet.
        try await hosts.export("org.example.Shop")
        try await hosts.hears("exporting org.example.Shop waits: org.example.Shop is not on the bus")
        try hosts.start("shop-service", hosts.state)
        let shop = try hosts.relayToKitchen(Orders1.self)
        shop.activate()
        try await shop.ready(within: .seconds(300))
        _ = try await shop.call(PlaceOrder(article: "Tea", count: 2))
        func says(
            _ parts: String..., atOffice: Bool, of service: String = "org.eventrelay.Bridge1", to verb: String...
        ) async throws {
            let verb = verb.isEmpty ? ["--json", "get", "BridgeStatus"] : verb
            var text = ""
            let isSaid = await eventually {
                text = (try? await hosts.cli(ofOffice: atOffice, ["--service", service] + verb)) ?? ""
                return parts.allSatisfy { text.contains($0) }
            }
            #expect(isSaid, "\(text)")
        }
        try await says(#""interface":"org.example.shop.Orders1","position":1,"head":1,"lag":0"#, atOffice: false)
        try await hosts.mirror("org.example.Shop", exporting: false)
        try await says(
            #""host":"kitchen","service":"org.example.Shop""#, #""position":1"#, #""isServing":true"#,
            #""guarantee":"a folder whose files are synced"#, atOffice: true)
        // What else looks at a service says it, too.
        let (shopName, mirror) = ("org.example.Shop", "org.eventrelay.Mirror1.kitchen.org.example.Shop")
        try await says("exported", "as kitchen up to #1, up to date", atOffice: false, of: shopName, to: "status")
        try await says(#""export":{"position":1,"#, atOffice: false, of: shopName, to: "--json", "status")
        try await says("mirrored", "of kitchen up to #1, up to date", atOffice: true, of: mirror, to: "status")
        try await says("Orders1 is exported as kitchen, up to date", atOffice: false, of: shopName, to: "doctor")
        try await says("Orders1 of kitchen is mirrored, up to date", atOffice: true, of: mirror, to: "doctor")
        try await says("relay_export_lag{", "relay_export_margin{", atOffice: false, of: shopName, to: "metrics")
        try await says("relay_mirror_lag_seconds{", atOffice: true, of: mirror, to: "metrics")
        shop.invalidate()
    }
}
