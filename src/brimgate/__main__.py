import sys

from brimgate.cli import main

sys.exit(main())
