public import RelayCore

/// Tracks that somebody recorded. Durable: a window that is opened late has them all.
public enum Tracks1: EnumInterface {
    case imported(TrackImported), renamed(TrackRenamed)

    public static let name = "org.example.Tracks1"
    public static var contract: Contract<Self> {
        imported
        renamed
        ImportTrack.self
        RenameTrack.self
        ListTracks.self
    }
}

/// What is known of a track without its points.
public struct TrackSummary: Codable, Hashable, Sendable {
    public let trackID: Int64
    public var name: String
    public let pointCount: Int32
    public let distanceMetres: Double
    /// nil: the file has no elevations, or no times.
    public let ascentMetres: Double?, durationSeconds: Double?
    /// `west` is above `east` where the track crosses the 180th meridian.
    public let southDegrees: Double, westDegrees: Double, northDegrees: Double, eastDegrees: Double

    public init(
        trackID: Int64, name: String, pointCount: Int32, distanceMetres: Double, ascentMetres: Double?,
        durationSeconds: Double?, southDegrees: Double, westDegrees: Double, northDegrees: Double,
        eastDegrees: Double
    ) {
        (self.trackID, self.name, self.pointCount) = (trackID, name, pointCount)
        (self.distanceMetres, self.ascentMetres) = (distanceMetres, ascentMetres)
        self.durationSeconds = durationSeconds
        (self.southDegrees, self.westDegrees) = (southDegrees, westDegrees)
        (self.northDegrees, self.eastDegrees) = (northDegrees, eastDegrees)
    }
}

public struct TrackImported: DomainEvent, Hashable {
    public typealias Interface = Tracks1
    public let track: TrackSummary
    public init(track: TrackSummary) { self.track = track }
}
public struct TrackRenamed: DomainEvent, Hashable {
    public typealias Interface = Tracks1
    public let trackID: Int64, name: String
    public init(trackID: Int64, name: String) { (self.trackID, self.name) = (trackID, name) }
}

/// Takes a GPX file, as it is on disk: the service reads it, and trusts nothing in it.
public struct ImportTrack: Command {
    public typealias Interface = Tracks1
    public let gpx: [UInt8]
    public init(gpx: [UInt8]) { self.gpx = gpx }
    public struct Reply: Codable, Sendable {
        public let trackID: Int64
        public init(trackID: Int64) { self.trackID = trackID }
    }
    /// The message has the line, and what is wrong there.
    public enum Refusal: CommandRefusal {
        case notATrack(String)
        public var errorName: String { "NotATrack" }
        public var message: String {
            switch self {
            case .notATrack(let reason): reason
            }
        }
        public init?(errorName: String, message: String) {
            guard errorName == "NotATrack" else { return nil }
            self = .notATrack(message)
        }
    }
}
public struct RenameTrack: Command {
    public typealias Interface = Tracks1
    public let trackID: Int64, name: String
    public init(trackID: Int64, name: String) { (self.trackID, self.name) = (trackID, name) }
    public enum Refusal: String, CommandRefusal, CaseIterable {
        case unknownTrack = "UnknownTrack"
        case unfitName = "UnfitName"
        public var message: String {
            switch self {
            case .unknownTrack: "there is no track of this number"
            case .unfitName: "a name has 1 to 80 characters, all of them visible"
            }
        }
    }
}
/// The present state, and the event that it is of: what a window begins with.
public struct ListTracks: Command {
    public typealias Interface = Tracks1
    public init() {}
    public struct Reply: SnapshotReply {
        public let epoch: UInt64, sequence: UInt64
        public let tracks: [TrackSummary]
        public init(epoch: UInt64, sequence: UInt64, tracks: [TrackSummary]) {
            (self.epoch, self.sequence, self.tracks) = (epoch, sequence, tracks)
        }
    }
}
