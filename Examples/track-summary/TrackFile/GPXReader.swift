import CGPXExpat

/// Collects what expat reports. A class, for C's callbacks to find it; it lives as long as one parse.
final class GPXReader {
    /// Between an element's namespace and its name: in neither.
    static let separator = UInt8(ascii: "|")
    private static let namespaces = ["http://www.topografix.com/GPX/1/1", "http://www.topografix.com/GPX/1/0"]
    private static let deepest = 64
    private static let longestText = 1_000
    /// The Dead Sea's shore is at -430 m; a balloon's track is a track, too.
    private static let elevationsMetres = -12_000.0...100_000

    private enum Element { case file, track, trackName, segment, point, elevation, time, other }
    private struct PendingPoint {
        let latitudeDegrees: Double, longitudeDegrees: Double
        var elevationMetres: Double?
        var secondsSince1970: Double?
    }
    private let parser: XML_Parser
    private(set) var fault: GPXFault?
    private var open: [Element] = []
    private var text: [UInt8] = []
    private var point: PendingPoint?
    private var name: String?
    private var segments: [[TrackPoint]] = []

    init(_ parser: XML_Parser) { self.parser = parser }
    static func from(_ context: UnsafeMutableRawPointer?) -> GPXReader? {
        context.map { Unmanaged<GPXReader>.fromOpaque($0).takeUnretainedValue() }
    }

    var line: Int { Int(gpx_expat_line(parser)) }
    var hasPoints: Bool { segments.contains { !$0.isEmpty } }
    var track: Track { Track(name: name, segments: segments.filter { !$0.isEmpty }) }

    func fail(_ reason: String) {
        // expat reports the end of an element that it began before it stops.
        if fault == nil { fault = GPXFault(line: line, reason: reason) }
        _ = XML_StopParser(parser, XML_Bool(XML_FALSE))
    }

    func start(_ name: UnsafePointer<XML_Char>?, _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?) {
        guard fault == nil, let name else { return }
        guard open.count < Self.deepest else { return fail("elements are nested deeper than \(Self.deepest)") }
        let element = begin(String(cString: name), attributes)
        text = []
        open.append(element)
    }
    private func begin(
        _ name: String, _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?
    ) -> Element {
        switch (open.last, Self.localName(name)) {
        case (nil, "gpx"): return .file
        case (nil, _):
            fail("the file's element is <\(Self.shown(name))>: this is no GPX file")
            return .other
        case (.file, "trk"): return .track
        case (.track, "name"): return .trackName
        case (.track, "trkseg"):
            segments.append([])
            return .segment
        case (.segment, "trkpt"):
            guard let latitude = degrees("lat", within: 90, attributes),
                let longitude = degrees("lon", within: 180, attributes)
            else { return .other }
            point = PendingPoint(latitudeDegrees: latitude, longitudeDegrees: longitude)
            return .point
        case (.point, "ele"): return .elevation
        case (.point, "time"): return .time
        default: return .other
        }
    }
    /// What is in no namespace of GPX is an extension, whatever its name. Files without any namespace are common.
    private static func localName(_ name: String) -> Substring? {
        guard let end = name.lastIndex(of: Character(Unicode.Scalar(separator))) else { return name[...] }
        return namespaces.contains(String(name[..<end])) ? name[name.index(after: end)...] : nil
    }
    private func degrees(
        _ name: String, within limit: Double, _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?
    ) -> Double? {
        var index = 0
        while let attributes, let key = attributes[index], let value = attributes[index + 1] {
            index += 2
            guard String(cString: key) == name else { continue }
            let text = String(cString: value)
            if let number = GPXNumber.decimal(text, in: -limit...limit) { return number }
            fail("\(name)=\"\(Self.shown(text))\" is no number from -\(Int(limit)) to \(Int(limit))")
            return nil
        }
        fail("a <trkpt> has no \(name)")
        return nil
    }

    func add(_ bytes: UnsafePointer<XML_Char>?, _ count: Int) {
        guard let bytes, let element = open.last, element == .trackName || element == .elevation || element == .time
        else { return }
        let room = Self.longestText - text.count
        UnsafeRawBufferPointer(start: bytes, count: min(count, max(0, room))).withMemoryRebound(to: UInt8.self) {
            text += $0
        }
    }

    func end() {
        guard fault == nil, let element = open.popLast() else { return }
        switch element {
        case .trackName: name = name ?? GPXNumber.trimmed(String(decoding: text, as: UTF8.self))
        case .elevation:
            let value = GPXNumber.trimmed(String(decoding: text, as: UTF8.self))
            guard let metres = GPXNumber.decimal(value, in: Self.elevationsMetres) else {
                return fail("<ele>\(Self.shown(value))</ele> is no elevation in metres")
            }
            point?.elevationMetres = metres
        case .time:
            let value = GPXNumber.trimmed(String(decoding: text, as: UTF8.self))
            guard let seconds = GPXNumber.secondsSince1970(value) else {
                return fail("<time>\(Self.shown(value))</time> is no time such as 2026-05-01T12:30:00Z")
            }
            point?.secondsSince1970 = seconds
        case .point:
            guard let point, !segments.isEmpty else { return }
            segments[segments.count - 1].append(
                TrackPoint(
                    latitudeDegrees: point.latitudeDegrees, longitudeDegrees: point.longitudeDegrees,
                    elevationMetres: point.elevationMetres, secondsSince1970: point.secondsSince1970))
            self.point = nil
        case .file, .track, .segment, .other: break
        }
    }

    /// A text of the file in an error: short, and without what would act on a terminal.
    private static func shown(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.prefix(40).map { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator:
                        "?"
                    default: scalar
                    }
                }))
    }
}
