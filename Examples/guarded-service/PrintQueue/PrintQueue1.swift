import RelayCore

/// A print queue of a machine. Whoever is on its bus may print; only whom polkit permits it may empty the queue.
public enum PrintQueue1: EnumInterface {
    case added(JobAdded), emptied(QueueEmptied)

    public static let name = "org.example.PrintQueue1"
    public static let requirement = PeerRequirement.anyone
    public static var contract: Contract<Self> {
        added
        emptied
        AddJob.self
        ListJobs.self
        EmptyQueue.self
    }
}

public struct JobAdded: DomainEvent {
    public typealias Interface = PrintQueue1
    public let job: Job
    public init(job: Job) { self.job = job }
}
public struct QueueEmptied: DomainEvent {
    public typealias Interface = PrintQueue1
    public let jobs: Int64
    public init(jobs: Int64) { self.jobs = jobs }
}

public struct AddJob: Command {
    public typealias Interface = PrintQueue1
    public let title: String, pages: Int32
    public init(title: String, pages: Int32) { (self.title, self.pages) = (title, pages) }
    public struct Reply: Codable, Sendable {
        public let jobID: Int64
        public init(jobID: Int64) { self.jobID = jobID }
    }
    public enum Refusal: String, CommandRefusal { case tooLong = "TooLong" }
}
public struct ListJobs: Command {
    public typealias Interface = PrintQueue1
    public init() {}
    public struct Reply: Codable, Sendable {
        public let jobs: [Job]
        public init(jobs: [Job]) { self.jobs = jobs }
    }
}
/// The action is declared in `Examples/polkit`: a person is asked for a password, unless the rules say otherwise.
public struct EmptyQueue: Command {
    public typealias Interface = PrintQueue1
    public static let requirement = PeerRequirement.polkit(action: "org.example.printer.manage")
    public init() {}
    public enum Refusal: String, CommandRefusal { case isEmpty = "IsEmpty" }
}
public struct Job: Codable, Hashable, Sendable {
    public let jobID: Int64, title: String, pages: Int32
    public init(jobID: Int64, title: String, pages: Int32) {
        (self.jobID, self.title, self.pages) = (jobID, title, pages)
    }
}
