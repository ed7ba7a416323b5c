import RelayEvents

enum WindowEvent: Event { case opened(title: String), closed(title: String) }

@main struct InProcess {
    static func main() async {
        let publisher = EventPublisher()
        // On the thread that publishes, before `publish` returns. A closure written on an actor runs on that actor instead.
        let log = publisher.subscribe(to: WindowEvent.self, delivery: .immediate) {
            print("log: \($0)")
        } onGap: { _ in
        }
        let stream = publisher.events(of: WindowEvent.self, buffer: .bufferingNewest(1))
        publisher.publish(WindowEvent.opened(title: "Boxes"))
        publisher.publish(WindowEvent.closed(title: "Boxes"))
        log.cancel()
        // The stream has room for one event. What it lost is a value in the lost event's place.
        for await delivery in stream {
            switch delivery {
            case .gap(let gap): print("stream: \(gap)")
            case .event(let event, _):
                print("stream: \(event)")
                stream.cancel()
            }
        }
    }
}
