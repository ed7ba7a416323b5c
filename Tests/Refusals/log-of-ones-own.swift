// expect: 'EventLog'
import RelayCore
final class Log: EventLog {}
