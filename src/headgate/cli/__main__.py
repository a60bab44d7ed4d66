import sys

from headgate.cli import main

sys.exit(main())
