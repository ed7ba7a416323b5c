import Glibc

/// What can be measured of a track.
public struct TrackMeasures: Sendable, Equatable {
    public let pointCount: Int
    public let distanceMetres: Double
    /// All rises together; nil: fewer than two points of any segment have an elevation.
    public let ascentMetres: Double?
    /// From the first time to the last; nil: there are no two times in this order.
    public let durationSeconds: Double?
    public let bounds: TrackBounds

    /// nil: a track without a point.
    public init?(_ track: Track) {
        let points = track.segments.joined()
        guard let first = points.first else { return nil }
        var (distance, ascent, bounds) = (0.0, Double?.none, GrowingBounds(first))
        for segment in track.segments {
            var previous: TrackPoint?
            var elevation: Double?
            for point in segment {
                if let previous { distance += GreatCircle.distanceMetres(from: previous, to: point) }
                previous = point
                bounds.include(point)
                guard let present = point.elevationMetres else { continue }
                if let elevation { ascent = (ascent ?? 0) + max(0, present - elevation) }
                elevation = present
            }
        }
        let times = points.lazy.compactMap(\.secondsSince1970)
        let duration = times.last.flatMap { last in times.first.map { last - $0 } }
        (pointCount, distanceMetres, ascentMetres) = (points.count, distance, ascent)
        durationSeconds = duration.flatMap { $0 > 0 ? $0 : nil }
        self.bounds = bounds.bounds
    }
}

/// The smallest frame around a track. `westDegrees` is above `eastDegrees` where it crosses the 180th meridian.
public struct TrackBounds: Sendable, Equatable {
    public let southDegrees: Double, westDegrees: Double, northDegrees: Double, eastDegrees: Double

    public init(southDegrees: Double, westDegrees: Double, northDegrees: Double, eastDegrees: Double) {
        (self.southDegrees, self.westDegrees) = (southDegrees, westDegrees)
        (self.northDegrees, self.eastDegrees) = (northDegrees, eastDegrees)
    }
}

/// The globe as a sphere: at most 0.6 % off.
public enum GreatCircle {
    /// The mean radius of the ellipsoid that GPS uses.
    public static let radiusMetres = 6_371_008.8

    /// By the haversine formula, which is exact for small distances, too.
    public static func distanceMetres(from start: TrackPoint, to end: TrackPoint) -> Double {
        let (south, north) = (radians(start.latitudeDegrees), radians(end.latitudeDegrees))
        let halfHeight = sin((north - south) / 2)
        let halfWidth = sin(radians(end.longitudeDegrees - start.longitudeDegrees) / 2)
        let haversine = halfHeight * halfHeight + cos(south) * cos(north) * halfWidth * halfWidth
        // Rounding may put it above 1 for opposite points.
        return 2 * radiusMetres * asin(min(1, haversine.squareRoot()))
    }
    private static func radians(_ degrees: Double) -> Double { degrees * .pi / 180 }
}

/// Follows a track over the 180th meridian: its longitudes are counted on from the point before.
private struct GrowingBounds {
    private var south: Double, north: Double, west: Double, east: Double
    private var longitude: Double
    private var turns = 0.0

    init(_ first: TrackPoint) {
        (south, north) = (first.latitudeDegrees, first.latitudeDegrees)
        (west, east, longitude) = (first.longitudeDegrees, first.longitudeDegrees, first.longitudeDegrees)
    }
    mutating func include(_ point: TrackPoint) {
        (south, north) = (min(south, point.latitudeDegrees), max(north, point.latitudeDegrees))
        let step = point.longitudeDegrees + 360 * turns - longitude
        if abs(step) > 180 { turns += step > 0 ? -1 : 1 }
        longitude = point.longitudeDegrees + 360 * turns
        (west, east) = (min(west, longitude), max(east, longitude))
    }
    var bounds: TrackBounds {
        let isWhole = east - west >= 360
        return TrackBounds(
            southDegrees: south, westDegrees: isWhole ? -180 : Self.normal(west), northDegrees: north,
            eastDegrees: isWhole ? 180 : Self.normal(east))
    }
    /// -180...180.
    private static func normal(_ longitude: Double) -> Double {
        abs(longitude) <= 180 ? longitude : longitude.remainder(dividingBy: 360)
    }
}
