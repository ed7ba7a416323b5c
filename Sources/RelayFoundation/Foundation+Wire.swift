public import Foundation
package import RelayEvents

/// A date travels as microseconds since 1970, which may be negative. What is between two microseconds is rounded to the
/// nearer one.
extension Date: WireRepresented {
    private static let referenceDate: Int64 = 978_307_200_000_000

    package static var wireExample: Self { Date(timeIntervalSinceReferenceDate: 0) }

    package func carried() throws(RelayError) -> Int64 {
        // From Foundation's own reference date, which is nearer, so that less is rounded away.
        let micros = (timeIntervalSinceReferenceDate * 1_000_000).rounded()
        guard let whole = Int64(exactly: micros) else { throw Self.refusal("\(timeIntervalSinceReferenceDate)") }
        let (sum, overflow) = whole.addingReportingOverflow(Self.referenceDate)
        if overflow { throw Self.refusal("\(timeIntervalSinceReferenceDate)") }
        return sum
    }
    package init(carried: Int64) throws(RelayError) {
        let (micros, overflow) = carried.subtractingReportingOverflow(Self.referenceDate)
        if overflow { throw Self.refusal("\(Double(carried) / 1_000_000 - 978_307_200)") }
        self.init(timeIntervalSinceReferenceDate: Double(micros) / 1_000_000)
    }
    private static func refusal(_ value: String) -> RelayError {
        RelayError(
            .invalidArgument,
            "a date of \(value) s since 2001 is none of the microseconds that 64 bits can count: send a date within "
                + "290,000 years of 1970")
    }
}

/// A URL travels as its `absoluteString`.
extension URL: WireRepresented {
    package static var wireExample: Self { URL(fileURLWithPath: "/") }

    package func carried() throws(RelayError) -> String { absoluteString }

    package init(carried: String) throws(RelayError) {
        guard let url = URL(string: carried) else {
            throw RelayError(.invalidArgument, "\(shown(carried)) is no URL")
        }
        self = url
    }
}

/// A decimal number travels as text: `-12.50` is `-12.5`.
extension Decimal: WireRepresented {
    package static var wireExample: Self { 0 }

    package func carried() throws(RelayError) -> String {
        if isNaN {
            throw RelayError(.invalidArgument, "a Decimal that is not a number cannot be sent: send an optional")
        }
        return description
    }
    package init(carried: String) throws(RelayError) {
        // Foundation takes what begins with a number, too.
        guard Self.isNumber(carried), let number = Decimal(string: carried, locale: nil), !number.isNaN else {
            throw RelayError(.invalidArgument, "\(shown(carried)) is no decimal number: 12.5, -3 or 1e20")
        }
        self = number
    }
    private static func isNumber(_ text: String) -> Bool {
        text.wholeMatch(of: /[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?/) != nil
    }
}

private func shown(_ text: String) -> String {
    "'\(text.unicodeScalars.prefix(100).plainlyVisible)'"
}
