/// A track as a GPX file has it.
public struct Track: Sendable, Equatable {
    /// What the file calls it: anybody's text.
    public let name: String?
    /// Points that were recorded without a pause between them.
    public let segments: [[TrackPoint]]

    public init(name: String? = nil, segments: [[TrackPoint]]) { (self.name, self.segments) = (name, segments) }
}
public struct TrackPoint: Sendable, Equatable {
    public let latitudeDegrees: Double, longitudeDegrees: Double
    public let elevationMetres: Double?
    public let secondsSince1970: Double?

    public init(
        latitudeDegrees: Double, longitudeDegrees: Double, elevationMetres: Double? = nil,
        secondsSince1970: Double? = nil
    ) {
        (self.latitudeDegrees, self.longitudeDegrees) = (latitudeDegrees, longitudeDegrees)
        (self.elevationMetres, self.secondsSince1970) = (elevationMetres, secondsSince1970)
    }
}
