public import RelayCore
public import TrackFile
public import Tracks

/// The rules about tracks. It knows neither SQLite nor D-Bus, and no view: it is given a unit of work, and publishes into it.
public struct TrackInteractor: Sendable {
    public init() {}

    public func add(_ track: Track, in unit: inout some TrackUnit & ~Copyable) throws -> Int64 {
        guard let measures = TrackMeasures(track), let pointCount = Int32(exactly: measures.pointCount) else {
            throw ImportTrack.Refusal.notATrack("the file has no point, or too many")
        }
        let trackID = try unit.nextTrackID()
        let summary = TrackSummary(
            trackID: trackID, name: TrackName.made(of: track.name), pointCount: pointCount,
            distanceMetres: measures.distanceMetres, ascentMetres: measures.ascentMetres,
            durationSeconds: measures.durationSeconds, southDegrees: measures.bounds.southDegrees,
            westDegrees: measures.bounds.westDegrees, northDegrees: measures.bounds.northDegrees,
            eastDegrees: measures.bounds.eastDegrees)
        try unit.insert(summary)
        try unit.publish(TrackImported(track: summary))
        return trackID
    }
    public func rename(_ command: RenameTrack, in unit: inout some TrackUnit & ~Copyable) throws {
        guard let present = try unit.name(of: command.trackID) else { throw RenameTrack.Refusal.unknownTrack }
        guard TrackName.isFit(command.name) else { throw RenameTrack.Refusal.unfitName }
        if command.name == present { return }
        try unit.setName(of: command.trackID, to: command.name)
        try unit.publish(TrackRenamed(trackID: command.trackID, name: command.name))
    }
}

/// One transaction over tracks and their events: the journal's, or a test's.
public protocol TrackUnit: EventSink, ~Copyable {
    mutating func nextTrackID() throws -> Int64
    mutating func insert(_ track: TrackSummary) throws
    /// nil: there is no such track.
    mutating func name(of trackID: Int64) throws -> String?
    mutating func setName(of trackID: Int64, to name: String) throws
}

/// What people may call a track. It is shown at terminals and in windows.
enum TrackName {
    private static let longest = 80

    static func isFit(_ name: String) -> Bool {
        (1...longest).contains(name.count) && name.unicodeScalars.allSatisfy(isVisible)
            && name.contains { !$0.isWhitespace }
    }
    /// A file's name for it is anybody's text.
    static func made(of text: String?) -> String {
        let visible = String(String.UnicodeScalarView((text ?? "").unicodeScalars.map { isVisible($0) ? $0 : " " }))
        let name = String(visible.prefix(longest))
        return isFit(name) ? name : "unnamed"
    }
    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}
