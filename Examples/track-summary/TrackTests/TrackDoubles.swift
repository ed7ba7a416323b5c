import RelayCore
import RelayTestKit
import Synchronization
import TrackDesk
import TrackFrontend
import TrackViews
import Tracks

/// A unit of work over tracks in memory, which records events.
struct RecordingTracks: TrackUnit {
    var tracks: [Int64: TrackSummary] = [:]
    var recording = RecordingSink()

    mutating func nextTrackID() -> Int64 { (tracks.keys.max() ?? 0) + 1 }
    mutating func insert(_ track: TrackSummary) { tracks[track.trackID] = track }
    mutating func name(of trackID: Int64) -> String? { tracks[trackID]?.name }
    mutating func setName(of trackID: Int64, to name: String) { tracks[trackID]?.name = name }
    mutating func publish<E: DomainEvent>(_ event: E) throws { try recording.publish(event) }
}

/// Records what a handler asks for, and refuses what a test says.
final class RecordingCommands: TrackCommands {
    enum Call: Equatable { case importTrack(bytes: Int), rename(Int64, String) }
    private let state = Mutex<[Call]>([])
    private let refusing: TrackTrouble?
    init(refusing: TrackTrouble? = nil) { self.refusing = refusing }

    var calls: [Call] { state.withLock { $0 } }
    func importTrack(gpx: [UInt8]) async throws(TrackTrouble) {
        state.withLock { $0.append(.importTrack(bytes: gpx.count)) }
        if let refusing { throw refusing }
    }
    func renameTrack(_ trackID: Int64, to name: String) async throws(TrackTrouble) {
        state.withLock { $0.append(.rename(trackID, name)) }
        if let refusing { throw refusing }
    }
}

/// One file.
struct FilesOfTest: TrackFiles {
    var text = ""
    func bytes(of path: String) throws(TrackTrouble) -> [UInt8] {
        if path == "track.gpx" { return Array(text.utf8) }
        throw TrackTrouble("\(path) is not there")
    }
}

@MainActor final class RecordingView: TrackView {
    private(set) var shown: [TrackViewData] = []
    func show(_ data: TrackViewData) { shown.append(data) }
}

extension TrackSummary {
    static func made(
        _ trackID: Int64 = 1, _ name: String = "Elbe", points: Int32 = 1_234, metres: Double = 1_094_260,
        ascent: Double? = nil, seconds: Double? = nil
    ) -> TrackSummary {
        TrackSummary(
            trackID: trackID, name: name, pointCount: points, distanceMetres: metres, ascentMetres: ascent,
            durationSeconds: seconds, southDegrees: -1.25, westDegrees: 8.5, northDegrees: 53.96, eastDegrees: -170)
    }
}
