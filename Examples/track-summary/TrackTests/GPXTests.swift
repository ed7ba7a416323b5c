import Testing
import TrackFile

@Suite("GPX files") struct GPXTests {
    private func parse(_ text: String) throws(GPXFault) -> Track { try GPX.parse(Array(text.utf8)) }
    private func file(_ points: String) -> String {
        "<gpx xmlns=\"http://www.topografix.com/GPX/1/1\">\n<trk><name>A</name><trkseg>\n\(points)\n"
            + "</trkseg></trk></gpx>"
    }

    @Test("points, segments, elevations, times and the name are read; extensions and routes are not") func reads()
        throws
    {
        let track = try parse(
            """
            <?xml version="1.0" encoding="ISO-8859-1"?>
            <g:gpx xmlns:g="http://www.topografix.com/GPX/1/0" xmlns:x="urn:x">
            <g:rte><g:rtept lat="1" lon="1"/></g:rte>
            <g:trk><x:name>not this</x:name><g:name> Long &amp; steep </g:name><g:name>nor this</g:name>
            <g:trkseg>
            <g:trkpt lat="-33.5" lon="151"><g:ele> 12.5 </g:ele><g:time>1970-01-02T00:00:00.25Z</g:time></g:trkpt>
            <g:trkpt lon="-180" lat="+90.0"><x:ele>nine</x:ele><g:time>1970-01-02T02:00:01+02:00</g:time></g:trkpt>
            </g:trkseg><g:trkseg/><g:trkseg><g:trkpt lat="0" lon="0"/></g:trkseg></g:trk></g:gpx>
            """)
        #expect(track.name == "Long & steep")
        #expect(
            track.segments == [
                [
                    TrackPoint(
                        latitudeDegrees: -33.5, longitudeDegrees: 151, elevationMetres: 12.5,
                        secondsSince1970: 86_400.25),
                    TrackPoint(latitudeDegrees: 90, longitudeDegrees: -180, secondsSince1970: 86_401),
                ],
                [TrackPoint(latitudeDegrees: 0, longitudeDegrees: 0)],
            ])
    }
    @Test("a file without a namespace is read, too") func plain() throws {
        let track = try parse("<gpx><trk><trkseg><trkpt lat=\"1\" lon=\"2\"/></trkseg></trk></gpx>")
        #expect(track.name == nil && track.segments.joined().count == 1)
    }
    @Test(
        "what is wrong is said with its line",
        arguments: [
            ("", 1, "no XML"), ("<gpx><trk></gpx>", 1, "no XML"), ("<kml/>", 1, "<kml>: this is no GPX file"),
            ("<gpx/>", 1, "no track point"), ("<gpx>\n<trk><trkseg/></trk>\n</gpx>", 3, "no track point"),
            ("<gpx xmlns='urn:other'/>", 1, "no GPX file"),
            ("<!DOCTYPE gpx [\n<!ENTITY a 'aaaa'>]><gpx>&a;</gpx>", 2, "entity"),
        ])
    func faults(_ text: String, _ line: Int, _ reason: String) {
        #expect { try GPX.parse(Array(text.utf8)) } throws: { error in
            guard let fault = error as? GPXFault else { return false }
            return fault.line == line && fault.reason.contains(reason)
        }
    }
    @Test(
        "a point that is none is said with its line, and its text cannot act on a terminal",
        arguments: [
            ("<trkpt lat='90.1' lon='0'/>", "lat=\"90.1\""), ("<trkpt lat='0' lon='-180.5'/>", "lon=\"-180.5\""),
            ("<trkpt lat='nan' lon='0'/>", "nan"), ("<trkpt lat='0x1' lon='0'/>", "0x1"),
            ("<trkpt lat='1e1' lon='0'/>", "1e1"), ("<trkpt lat='' lon='0'/>", "lat=\"\""),
            ("<trkpt lon='0'/>", "no lat"), ("<trkpt lat='0'/>", "no lon"),
            ("<trkpt lat='\u{9b}2J' lon='0'/>", "lat=\"?2J\""),
            ("<trkpt lat='0' lon='0'><ele>high</ele></trkpt>", "<ele>high</ele>"),
            ("<trkpt lat='0' lon='0'><ele>1000000</ele></trkpt>", "1000000"),
            ("<trkpt lat='0' lon='0'><time>yesterday</time></trkpt>", "yesterday"),
            ("<trkpt lat='0' lon='0'><time>2026-02-29T00:00:00Z</time></trkpt>", "2026-02-29"),
            ("<trkpt lat='0' lon='0'><time>2026-02-28T24:00:00Z</time></trkpt>", "T24"),
            ("<trkpt lat='0' lon='0'><time>2026-02-28T00:00:00+99:00</time></trkpt>", "+99"),
            ("<trkpt lat='0' lon='0'><time></time></trkpt>", "<time></time>"),
        ])
    func points(_ point: String, _ reason: String) {
        let text = file("<trkpt lat='0' lon='0'/>\n" + point)
        #expect { try GPX.parse(Array(text.utf8)) } throws: { error in
            guard let fault = error as? GPXFault else { return false }
            return fault.line == 4 && fault.reason.contains(reason)
        }
    }
    @Test("bytes that are no text, and elements within elements, end in a fault") func hostile() {
        let files: [[UInt8]] = [
            [0xff, 0xfe, 0x00], [UInt8](repeating: 0, count: 100), Array("<gpx><trk><name>\u{0}".utf8) + [0xc3, 0x28],
            Array(String(repeating: "<gpx>", count: 200_000).utf8),
            [UInt8](repeating: UInt8(ascii: " "), count: GPX.largestBytes + 1),
        ]
        for file in files { #expect(throws: GPXFault.self) { try GPX.parse(file) } }
    }
    @Test("every beginning of a file is a fault, and none a trap") func truncated() throws {
        let bytes = Array(file("<trkpt lat='1.5' lon='2'><ele>3</ele><time>2026-05-01T12:30:00Z</time></trkpt>").utf8)
        for count in bytes.indices { #expect(throws: GPXFault.self) { try GPX.parse(Array(bytes[..<count])) } }
        _ = try GPX.parse(bytes)
    }
    @Test("times are those of the calendar") func times() throws {
        let known: [(String, Double)] = [
            ("1970-01-01T00:00:00Z", 0), ("2000-02-29T12:00:00Z", 951_825_600), ("2026-05-01T12:30:00Z", 1_777_638_600),
            ("1969-12-31T23:59:59Z", -1), ("2026-05-01T12:30:00", 1_777_638_600),
            ("0000-03-01T00:00:00Z", -62_162_035_200),
            ("9999-12-31T23:59:60Z", 253_402_300_800), ("1970-01-01T00:00:00-00:30", 1_800),
        ]
        for (text, seconds) in known {
            let track = try parse(file("<trkpt lat='0' lon='0'><time>\(text)</time></trkpt>"))
            #expect(track.segments[0][0].secondsSince1970 == seconds, "\(text)")
        }
    }
}
