// expect: cannot convert value of type 'EventJournal'
// The service knows its journal.
import RelayCore
import RelayJournal
import Relocation
func open(_ service: EventService, _ journal: EventJournal) {
    service.handle(RemoveBox.self, in: journal) { command, _, unit in try unit.publish(BoxRemoved(boxID: command.boxID))
    }
}
