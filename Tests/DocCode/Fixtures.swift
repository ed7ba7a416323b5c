// What the code in doc comments takes from its surroundings: see scripts/check-doc-code.
import RelayCore
import RelayJournal
import RelayTestKit

func given<T: ~Copyable>() -> T { fatalError("nothing here is run") }
func expect(_ condition: Bool) {}

// MARK: Contracts

enum Printing1: EventInterface {
    static let name = "org.example.Printing1"
    static var contract: Contract<Self> {
        JobPrinted.self
        PrintJob.self
        CancelJob.self
    }
}
struct JobPrinted: DomainEvent {
    typealias Interface = Printing1
    let jobID: Int64, title: String, pages: Int32
}
struct PrintJob: Command {
    typealias Interface = Printing1
    let title: String, pages: Int32
    struct Reply: Codable, Sendable { let jobID: Int64 }
    struct Progress: Codable, Sendable { let page: Int32 }
    enum Refusal: String, CommandRefusal, CaseIterable { case tooLong = "TooLong" }
}
struct CancelJob: Command {
    typealias Interface = Printing1
    let jobID: Int64
}
enum Printing2: EventInterface {
    static let name = "org.example.Printing2"
    static var contract: Contract<Self> {
        PagesPrinted.self
        PaperAdded.self
        PrintPages.self
    }
}
struct PagesPrinted: DomainEvent {
    typealias Interface = Printing2
    let jobID: Int64, title: String?, pages: [Int32]
}
struct PaperAdded: DomainEvent { typealias Interface = Printing2 }
struct PrintPages: Command {
    typealias Interface = Printing2
    let title: String, pages: [Int32]
    struct Reply: Codable, Sendable { let jobID: Int64 }
    enum Refusal: String, CommandRefusal, CaseIterable { case tooLong = "TooLong" }
}
/// To be printed, and to be told of.
struct AnyJob: Command, DomainEvent {
    typealias Interface = Printing1
    static let name = "AnyJob"
    static let about: About = ""
    let title: String
    struct Reply: Codable, Sendable { let jobID: Int64 }
    enum Refusal: String, CommandRefusal, CaseIterable { case tooLong = "TooLong" }
}

enum Orders1: EnumInterface {
    case placed(OrderPlaced), shipped(OrderShipped)
    static let name = "org.example.Orders1"
    static var contract: Contract<Self> {
        placed
        shipped
        PlaceOrder.self
        ListOrders.self
    }
}
struct OrderPlaced: DomainEvent {
    typealias Interface = Orders1
    let orderID: Int64, article: String, count: Int32
}
struct OrderShipped: DomainEvent {
    typealias Interface = Orders1
    let orderID: Int64, customerID: Int64
}
struct TotalChanged: DomainEvent {
    typealias Interface = Orders1
    let article: String
}
struct PlaceOrder: Command {
    typealias Interface = Orders1
    let article: String
}
struct Order: Codable, Equatable, Sendable {
    let orderID: Int64
    var isShipped = false
    init(orderID: Int64) { self.orderID = orderID }
    init(_ placed: OrderPlaced) { orderID = placed.orderID }
}
struct ListOrders: PagedQuery {
    typealias Interface = Orders1
    struct Reply: SnapshotReply {
        let epoch: UInt64, sequence: UInt64
        let orders: [Order]
    }
    func next(after page: Reply) -> Self? { nil }
}

enum Telemetry1: EventInterface {
    static let name = "org.example.Telemetry1"
    static let durability = Volatile()
    static var contract: Contract<Self> {
        Sample.self
        Heartbeat.self
        Ponder.self
    }
}
struct Sample: DomainEvent {
    typealias Interface = Telemetry1
    let values: [Double]
    var halved: Sample { self }
}
struct Heartbeat: DomainEvent { typealias Interface = Telemetry1 }
struct Ponder: Command { typealias Interface = Telemetry1 }

enum Boxes1: EventInterface {
    static let name = "org.example.Boxes1"
    static var contract: Contract<Self> { BoxRemoved.self }
}
struct BoxRemoved: DomainEvent {
    typealias Interface = Boxes1
    let boxID: Int64
}
struct Inventory: DomainDocument {
    typealias Interface = Boxes1
    var boxes: [Box] = []
    static let initial = Self()
}
struct PrinterState: DomainDocument {
    typealias Interface = Printing1
    var title: String?, pagesLeft: Int32
    static let initial = Self(title: nil, pagesLeft: 0)
}
struct PrinterSettings: EditableDocument {
    typealias Interface = Printing1
    var tray: Int32, isDuplex: Bool
    static let initial = Self(tray: 1, isDuplex: false)
    enum Refusal: String, CommandRefusal, CaseIterable { case noSuchTray = "NoSuchTray" }
}
struct TraySettings: EditableDocument {
    typealias Interface = Printing2
    var trays: [Int32], isDuplex: Bool
    static let initial = Self(trays: [1], isDuplex: false)
    enum Refusal: String, CommandRefusal, CaseIterable { case noSuchTray = "NoSuchTray" }
}

// MARK: Values

let publisher: EventPublisher = given()
let relay: EventRelay = given()
let service: EventService = given()
let journal: EventJournal = given()
let bus: PrivateBus = given()
let harness: TestHarness = given()
let target: PollableTarget = given()
let folder: TestFolder = given()
let desk: Desk = given()
let job: AnyJob = given()
let sample: Sample = given()
let stamp: Stamp = given()
let box: Box = given()
let counter: Counter = given()
let orderList: OrderList = given()
let document: LocalDocument<Inventory> = given()
let list: BoxList = given()
let boxList: BoxList = given()
let label: Label = given()
let settings: PrinterSettings = given()
let present: VersionedState<PrinterSettings> = given()
/// Another one each time: it is consumed.
var descriptor: OwnedDescriptor { given() }
let file = ""
let name = ""
let title = ""
let pages: Int32 = 0
let note: String? = nil
let id: Int64 = 0
let alarms: [String] = []
nonisolated(unsafe) var jobID: Int64 = 0
nonisolated(unsafe) var rows: [String] = []
let last: Stamp? = nil
let stream: EventStream<Elapsed> = given()
nonisolated(unsafe) var histogram = Latencies()
let database = Database()
func archive(_ job: JobPrinted) async {}
func mail(_ order: OrderShipped) async throws {}

struct Box: Codable, Sendable, Equatable { var id: Int64, label: String }
struct Job: Decodable, Sendable {
    let id: Int64, title: String, note: String?
}
final class Counter: Sendable { var value: Int { 0 } }
final class Desk: Sendable {
    func print(_ job: PrintJob) async throws -> PrintJob.Reply { given() }
    func print(_ job: PrintJob, _ context: CommandContext) async throws -> PrintJob.Reply { given() }
}
@MainActor final class OrderList {
    let table = Store()
    var trouble = ""
    func apply(_ event: Orders1) {}
    func add(_ job: JobPrinted) {}
    func show(_ gap: Gap) {}
}
@MainActor final class BoxList: DocumentView {
    func show(_ inventory: Inventory) {}
}
@MainActor final class Label { var text = "" }
struct Elapsed: Event { let microseconds: Double }

struct Latencies {
    func add(_ value: Double) {}
    func note(_ gap: Gap) {}
}

struct Database: Sendable {
    func add(_ job: JobPrinted) async throws {}
    func note(_ gap: Gap) async throws {}
    func apply(_ event: Orders1, at stamp: Stamp) async throws {}
}

/// Around methods.
@MainActor class View {
    var orders: [Order] = []
    var trouble = ""
    let table = Store()
    func apply(_ event: Orders1) {}
}
@MainActor final class Store {
    func apply(_ change: ListChange<Order>) {}
}

/// Around methods that show by a method: it hides the functions of that name.
@MainActor class ShowingView: View {
    func show(_ inventory: Inventory) {}
}

func show(_ job: JobPrinted) {}
func show(_ version: DocumentVersion) {}
func show(_ text: String) {}
func show(_ page: Int32) {}
func show(_ gap: Gap) {}
func show(missing gap: Gap) {}
func enter(_ job: JobPrinted) {}
func note(_ gap: Gap) {}
func add(_ order: OrderPlaced) {}
func mark(_ order: OrderShipped) {}
func log(_ text: String) {}
func warn(_ text: String) {}
func split() {}
func publishSamples(_ service: EventService) async throws {}
func retry() {}
func reload() {}
func print(_ job: PrintJob) async throws -> Int64 { given() }
func print(_ page: Int32, of job: PrintJob) async throws {}
func print(_ descriptor: consuming OwnedDescriptor) async throws {}
func download(_ file: String) async throws {}
func nextID() -> Int64 { 0 }
func store(_ job: AnyJob, in journal: EventJournal) async throws {}
func remove(_ box: Box, in sink: inout RecordingSink) throws {}
