import RelayCore

public enum Printing1: EventInterface {
    public static let name = "org.example.Printing1"
    public static var contract: Contract<Self> {
        JobPrinted.self
        PrintJob.self
    }
}
public struct JobPrinted: DomainEvent {
    public typealias Interface = Printing1
    public let jobID: Int64, title: String, pages: Int32
    public init(jobID: Int64, title: String, pages: Int32) {
        (self.jobID, self.title, self.pages) = (jobID, title, pages)
    }
}
public struct PrintJob: Command {
    public typealias Interface = Printing1
    public let title: String, pages: Int32
    public init(title: String, pages: Int32) { (self.title, self.pages) = (title, pages) }
    public struct Reply: Codable, Sendable {
        public let jobID: Int64
        public init(jobID: Int64) { self.jobID = jobID }
    }
    public enum Refusal: String, CommandRefusal, CaseIterable { case tooLong = "TooLong" }
}
