import RelayCore

enum Printing1: EventInterface {
    static let name = "org.example.Printing1"
    static let durability = Volatile()  // Events are kept nowhere, as with XPC.
    static var contract: Contract<Self> {
        JobPrinted.self
        PrinterState.self
        PrintJob.self
        PreviewJob.self
    }
}
struct JobPrinted: DomainEvent {
    typealias Interface = Printing1
    let jobID: Int64, title: String
}
struct PrinterState: DomainDocument {
    typealias Interface = Printing1
    var jobs: Int64, lastTitle: String?
    static let initial = Self(jobs: 0, lastTitle: nil)
}
struct PrintJob: Command {
    typealias Interface = Printing1
    let title: String, pages: Int32
    struct Reply: Codable, Sendable { let jobID: Int64 }
    struct Progress: Codable, Sendable { let page: Int32 }
    enum Refusal: String, CommandRefusal, CaseIterable { case tooLong = "TooLong" }
}
struct PreviewJob: Command {
    typealias Interface = Printing1
    let title: String, channel: TransferredDescriptor
}
