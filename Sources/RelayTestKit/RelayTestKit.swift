// A test that runs programs and private buses needs no second import.
@_exported public import BusProcess
