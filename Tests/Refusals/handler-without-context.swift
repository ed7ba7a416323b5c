// expect: a handler takes the command and its context
import RelayCore
import Relocation
func serve(_ service: EventService) {
    service.handle(OrderBox.self) { command in
        print(command.label)
        return OrderBox.Reply(boxID: 1)
    }
}
