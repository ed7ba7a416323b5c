public import RelayCore
public import Tracks
public import TrackViews

/// Turns domain events into view data. It knows what a view shows, and not how.
@MainActor public final class TrackPresenter {
    private let view: any TrackView
    private var tracks: [Int64: TrackSummary] = [:]

    /// - Parameter publisher: where trouble is published that has nothing to do with the service's events.
    public init(_ view: any TrackView, _ publisher: EventPublisher) {
        self.view = view
        // Held weakly: the window owns the presenter.
        publisher.subscribe(self, to: TrackTrouble.self) { presenter, trouble in
            presenter.show(trouble.text)
        } onGap: { _, _ in
        }
    }

    /// The present state, which replaces what was known.
    public func show(_ reply: ListTracks.Reply) {
        tracks = [:]
        for track in reply.tracks { tracks[track.trackID] = track }
        show(String?.none)
    }
    public func apply(_ event: Tracks1) {
        switch event {
        case .imported(let imported): tracks[imported.track.trackID] = imported.track
        case .renamed(let renamed): tracks[renamed.trackID]?.name = renamed.name
        }
        show(String?.none)
    }
    public func show(_ trouble: String?) {
        let rows = tracks.values.sorted { $0.trackID < $1.trackID }.map(Self.row)
        view.show(TrackViewData(rows: rows, trouble: trouble))
    }

    private static func row(_ track: TrackSummary) -> TrackViewData.Row {
        var second: [String] = []
        second.append(track.ascentMetres.map { "\(TrackText.metres($0)) of ascent" } ?? "no elevations")
        second.append(track.durationSeconds.map { TrackText.duration(seconds: $0) } ?? "no times")
        let latitudes = [track.southDegrees, track.northDegrees].map { TrackText.degrees($0, "N", "S") }
        let longitudes = [track.westDegrees, track.eastDegrees].map { TrackText.degrees($0, "E", "W") }
        return TrackViewData.Row(
            trackID: track.trackID, title: track.name,
            lines: [
                "\(TrackText.grouped(Double(track.pointCount))) points, "
                    + TrackText.kilometres(metres: track.distanceMetres),
                second.joined(separator: ", "),
                latitudes.joined(separator: " to ") + ", " + longitudes.joined(separator: " to "),
            ])
    }
}

/// Numbers as people read them. They come from another process: whatever they are, there is a text.
enum TrackText {
    static func kilometres(metres: Double) -> String { tenths(metres / 1_000) + " km" }
    static func metres(_ metres: Double) -> String { grouped(metres) + " m" }
    static func degrees(_ degrees: Double, _ positive: String, _ negative: String) -> String {
        tenths(abs(degrees)) + "° " + (degrees < 0 ? negative : positive)
    }
    static func duration(seconds: Double) -> String {
        let minutes = whole(seconds / 60)
        guard let minutes, minutes >= 60 else { return minutes.map { "\($0) min" } ?? "–" }
        return "\(grouped(Double(minutes / 60))) h \(minutes % 60) min"
    }
    static func grouped(_ value: Double) -> String {
        guard let number = whole(value) else { return "–" }
        let digits = Array(String(number.magnitude))
        let parts = digits.indices.map { index in
            index > 0 && (digits.count - index) % 3 == 0 ? ",\(digits[index])" : "\(digits[index])"
        }
        return (number < 0 ? "-" : "") + parts.joined()
    }
    private static func tenths(_ value: Double) -> String {
        guard let number = whole(value * 10) else { return "–" }
        return (number < 0 ? "-" : "") + "\(grouped(Double(number.magnitude / 10))).\(number.magnitude % 10)"
    }
    /// nil: no number, or one that nobody reads.
    private static func whole(_ value: Double) -> Int? {
        value.isFinite && abs(value) < 1e15 ? Int(value.rounded()) : nil
    }
}
