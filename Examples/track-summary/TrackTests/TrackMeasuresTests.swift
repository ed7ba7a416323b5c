import Testing
import TrackFile

@Suite("What is measured of a track") struct TrackMeasuresTests {
    private func point(
        _ latitude: Double, _ longitude: Double, _ elevation: Double? = nil, at seconds: Double? = nil
    ) -> TrackPoint {
        TrackPoint(
            latitudeDegrees: latitude, longitudeDegrees: longitude, elevationMetres: elevation,
            secondsSince1970: seconds)
    }
    private func measures(_ segments: [TrackPoint]...) throws -> TrackMeasures {
        try #require(TrackMeasures(Track(segments: segments)))
    }

    @Test("distances are those of the globe") func distances() {
        let quarter = GreatCircle.radiusMetres * .pi / 2
        let known: [(TrackPoint, TrackPoint, Double)] = [
            (point(0, 0), point(90, 0), quarter), (point(0, 0), point(0, 90), quarter),
            (point(0, 0), point(0, 180), 2 * quarter), (point(90, 0), point(-90, 77), 2 * quarter),
            (point(12, 34), point(12, 34), 0), (point(0, 179.5), point(0, -179.5), quarter / 90),
            // A metre apart: the cosine formula would see nothing.
            (point(50, 8), point(50 + 1 / 111_195.08, 8), 1),
            // Berlin to Tokyo.
            (point(52.5167, 13.3833), point(35.7, 139.7667), 8_918_000),
        ]
        for (start, end, metres) in known {
            let distance = GreatCircle.distanceMetres(from: start, to: end)
            #expect(abs(distance - metres) <= max(0.001, metres * 0.000_5), "\(start) to \(end)")
            #expect(distance == GreatCircle.distanceMetres(from: end, to: start))
        }
    }
    @Test("segments are measured one by one: nobody moved between them") func segments() throws {
        let measures = try measures([point(0, 0), point(0, 1)], [point(10, 1), point(10, 1)])
        #expect(measures.pointCount == 4)
        #expect(measures.distanceMetres == GreatCircle.distanceMetres(from: point(0, 0), to: point(0, 1)))
    }
    @Test("the ascent counts rises, over points that have no elevation, and within a segment") func ascent() throws {
        let up = try measures([point(0, 0, 100), point(0, 1), point(0, 2, 150), point(0, 3, 120), point(0, 4, 130)])
        #expect(up.ascentMetres == 60)
        #expect(try measures([point(0, 0, 9), point(0, 1, 5)]).ascentMetres == 0)
        #expect(try measures([point(0, 0, 1)], [point(0, 1, 50)]).ascentMetres == nil)
        #expect(try measures([point(0, 0), point(0, 1)]).ascentMetres == nil)
    }
    @Test("the duration is from the first time to the last; times that go back have none") func duration() throws {
        #expect(try measures([point(0, 0, at: 10), point(0, 1)], [point(0, 2, at: 70)]).durationSeconds == 60)
        #expect(try measures([point(0, 0, at: 70), point(0, 2, at: 10)]).durationSeconds == nil)
        #expect(try measures([point(0, 0, at: 70)]).durationSeconds == nil)
        #expect(try measures([point(0, 0)]).durationSeconds == nil)
    }
    @Test("the frame is the smallest one, also across the 180th meridian and around a pole") func bounds() throws {
        #expect(
            try measures([point(1.1, 2.2), point(-3.3, 4.4), point(0, -5.5)]).bounds
                == TrackBounds(southDegrees: -3.3, westDegrees: -5.5, northDegrees: 1.1, eastDegrees: 4.4))
        #expect(
            try measures([point(0, 179), point(0, -178), point(0, 178)]).bounds
                == TrackBounds(southDegrees: 0, westDegrees: 178, northDegrees: 0, eastDegrees: -178))
        #expect(
            try measures([point(89, 0), point(89, 120), point(89, -120), point(89, 0)]).bounds
                == TrackBounds(southDegrees: 89, westDegrees: -180, northDegrees: 89, eastDegrees: 180))
    }
    @Test("a track without a point has no measures") func empty() {
        #expect(TrackMeasures(Track(segments: [])) == nil)
        #expect(TrackMeasures(Track(segments: [[]])) == nil)
    }
}
