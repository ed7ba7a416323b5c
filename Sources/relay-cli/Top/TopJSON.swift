import RelayTool

/// The figures for programs, an object a line: of interfaces, of events, of subscribers. Times are in microseconds.
enum TopJSON {
    static func append(_ model: TopModel, to output: inout ByteBuffer) {
        for (name, interface) in model.interfaces.sorted(by: { $0.key < $1.key }) {
            append(name, nil, interface.whole, to: &output)
            let lost = interface.lostUnknown ? nil : interface.lost
            output.append(",\"lag\":\(number(interface.lag)),\"lost\":\(number(lost))}\n")
            for (event, figures) in interface.events.sorted(by: { $0.key < $1.key }) {
                append(name, event, figures, to: &output)
                output.append("}\n")
            }
        }
        for (name, interface) in model.interfaces.sorted(by: { $0.key < $1.key }) {
            for one in interface.status?.subscribers?.listed ?? [] {
                output.append("{\"subscriber\":")
                SafeText.append(quoted: one.peer, to: &output)
                output.append(",\"interface\":")
                SafeText.append(quoted: name, to: &output)
                output.append(",\"transport\":")
                SafeText.append(quoted: one.transport, to: &output)
                output.append(",\"sequence\":\(number(one.sequence == 0 ? nil : one.sequence)),\"events\":[")
                for (index, event) in one.names.enumerated() {
                    if index > 0 { output.append(",") }
                    SafeText.append(quoted: event, to: &output)
                }
                output.append("]}\n")
            }
        }
    }
    private static func append(
        _ interface: String, _ event: String?, _ figures: TopModel.Figures, to output: inout ByteBuffer
    ) {
        output.append("{\"interface\":")
        SafeText.append(quoted: interface, to: &output)
        if let event {
            output.append(",\"event\":")
            SafeText.append(quoted: event, to: &output)
        }
        let latency = figures.latency
        let rate = (figures.rate * 10).rounded() / 10
        output.append(
            ",\"rate\":\(rate),\"p50\":\(number(latency.percentile(0.5))),\"p99\":\(number(latency.percentile(0.99)))")
    }
    private static func number(_ value: UInt64?) -> String { value.map { "\($0)" } ?? "null" }
}
