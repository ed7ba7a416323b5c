import Foundation

/// Lines over a few places, with a logarithmic scale.
struct Chart {
    struct Line {
        let name: String
        let colour: String
        let isDashed: Bool
        /// For each place: the middle, and how far it reaches; nil where nothing was measured.
        let points: [(middle: Double, low: Double, high: Double)?]
    }
    let title: String
    let places: [String]
    let lines: [Line]
    let form: (Double) -> String

    static let (width, height) = (520.0, 330.0)
    private static let (left, top, right, bottom) = (70.0, 34.0, 16.0, 40.0)

    /// Powers of ten around all values; nil when there are none.
    static func decades(of values: [Double]) -> ClosedRange<Int>? {
        let values = values.filter { $0 > 0 && $0.isFinite }
        guard let least = values.min(), let most = values.max() else { return nil }
        let low = Int(log10(least).rounded(.down))
        return low...max(low + 1, Int(log10(most).rounded(.up)))
    }
    /// SVG elements with their origin at the chart's upper left corner.
    var elements: String {
        let values = lines.flatMap { $0.points.compactMap { $0 }.flatMap { [$0.low, $0.middle, $0.high] } }
        var svg = text(Self.width / 2, 18, title, anchor: "middle", size: 14)
        guard let decades = Self.decades(of: values) else {
            return svg + text(Self.width / 2, 160, "not measured", anchor: "middle")
        }
        let (plotWidth, plotHeight) = (Self.width - Self.left - Self.right, Self.height - Self.top - Self.bottom)
        func x(_ place: Int) -> Double { Self.left + plotWidth * (Double(place) + 0.5) / Double(places.count) }
        func y(_ value: Double) -> Double {
            let part = (log10(value) - Double(decades.lowerBound)) / Double(decades.upperBound - decades.lowerBound)
            return Self.top + plotHeight * (1 - min(1, part))
        }
        for decade in decades {
            let value = pow(10, Double(decade))
            svg += "<path d=\"M\(n(Self.left)) \(n(y(value)))H\(n(Self.width - Self.right))\" stroke=\"#ccc\"/>\n"
            svg += text(Self.left - 6, y(value) + 4, form(value), anchor: "end")
        }
        for (place, name) in places.enumerated() {
            svg += text(x(place), Self.height - Self.bottom + 18, name, anchor: "middle")
        }
        for (index, line) in lines.enumerated() {
            // A little beside each other, so that what is equal does not hide what is below.
            let shift = (Double(index) - Double(lines.count - 1) / 2) * 5
            let points = line.points.enumerated().compactMap { place, point in point.map { (x(place) + shift, $0) } }
            let path = points.map { "\(n($0.0)) \(n(y($0.1.middle)))" }.joined(separator: "L")
            let dash = line.isDashed ? " stroke-dasharray=\"5 4\"" : ""
            if points.count > 1 {
                svg += "<path d=\"M\(path)\" fill=\"none\" stroke=\"\(line.colour)\" stroke-width=\"1.5\"\(dash)/>\n"
            }
            for (x, point) in points {
                svg +=
                    "<path d=\"M\(n(x)) \(n(y(point.low)))V\(n(y(point.high)))\" stroke=\"\(line.colour)\"/>"
                    + "<circle cx=\"\(n(x))\" cy=\"\(n(y(point.middle)))\" r=\"3\" fill=\"\(line.colour)\"/>\n"
            }
        }
        return svg
    }
    private func n(_ value: Double) -> String { String(format: "%.1f", value) }
    private func text(_ x: Double, _ y: Double, _ text: String, anchor: String, size: Int = 11) -> String {
        "<text x=\"\(n(x))\" y=\"\(n(y))\" text-anchor=\"\(anchor)\" font-size=\"\(size)\">\(Plot.escaped(text))</text>\n"
    }
}
