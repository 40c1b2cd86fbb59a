import {
  Activity,
  Bell,
  BookOpen,
  ChartColumn,
  CircleHelp,
  CreditCard,
  Gauge,
  HeartPulse,
  House,
  KeyRound,
  MessageSquare,
  Network,
  Settings,
  SquareTerminal,
  Tags,
  Ticket,
  Users,
  Waypoints,
} from 'lucide-react'

/** The menu's icons by name. The table of pages contains only the names, because the build loads it without React. */
export const menuIcons = {
  Activity,
  Bell,
  BookOpen,
  ChartColumn,
  CircleHelp,
  CreditCard,
  HeartPulse,
  Gauge,
  House,
  KeyRound,
  MessageSquare,
  Network,
  Settings,
  SquareTerminal,
  Tags,
  Ticket,
  Users,
  Waypoints,
}

export type MenuIcon = keyof typeof menuIcons
